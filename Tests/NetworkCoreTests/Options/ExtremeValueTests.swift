import Foundation
import Synchronization
import TestSupport
import Testing

@testable import NetworkCore

/// A value that a caller may read from a file must not end the process. It is refused by name, or the nearest valid
/// value applies.
@Suite("Extreme option values", .patience(minutes: 1))
struct ExtremeValueTests {
    static let durations: [Duration] = [
        .zero, .nanoseconds(1), .nanoseconds(-1), .seconds(-1), .seconds(Int64.max), .seconds(Int64.min),
        .milliseconds(Int64.max), .seconds(Int64.max) * 18, .seconds(Int64.min) * 18, .seconds(365 * 86_400),
        .seconds(366 * 86_400), .seconds(-9_223_372_036_854_775) - .milliseconds(900),
    ]
    static let numbers: [Int] = [0, 1, -1, .max, .min, .max - 1, .min + 1, 1 << 40, Int(Int32.max), Int(Int32.min)]
    static let chances: [Double] = [0, -1, 1, 2, .nan, .infinity, -.infinity, .greatestFiniteMagnitude]

    /// An option that is a duration or a number.
    struct Option<Value: Sendable>: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let set: @Sendable (inout TransportOptions, Value) -> Void

        init(_ name: String, _ set: @escaping @Sendable (inout TransportOptions, Value) -> Void) {
            testDescription = name
            self.set = set
        }
    }

    static let timed: [Option<Duration>] = [
        Option("connectTimeout") { $0.connectTimeout = $1 }, Option("idleTimeout") { $0.idleTimeout = $1 },
        Option("totalTimeout") { $0.totalTimeout = $1 }, Option("firstByteTimeout") { $0.firstByteTimeout = $1 },
        Option("expectContinue") { $0.expectContinue = $1 },
        Option("names.cacheTime") { $0.names.cacheTime = $1 },
        Option("rate.lowSpeed.duration") { $0.rate.lowSpeed = .init(bytesPerSecond: 1, for: $1) },
        Option("connection.keepAlive.idle") { options, value in
            var keepAlive = TransportOptions.Connection.KeepAlive()
            keepAlive.idle = value
            options.connection.keepAlive = keepAlive
        },
        Option("connection.keepAlive.interval") { options, value in
            var keepAlive = TransportOptions.Connection.KeepAlive()
            keepAlive.interval = value
            options.connection.keepAlive = keepAlive
        },
    ]

    static let counted: [Option<Int>] = [
        Option("maximumBodyBytes") { $0.maximumBodyBytes = $1 },
        Option("rate.maximumReceivedPerSecond") { $0.rate.maximumReceivedPerSecond = $1 },
        Option("rate.maximumSentPerSecond") { $0.rate.maximumSentPerSecond = $1 },
        Option("rate.lowSpeed.bytesPerSecond") { $0.rate.lowSpeed = .init(bytesPerSecond: $1, for: .seconds(1)) },
        Option("connection.localPorts") { $0.connection.localPorts = $1...$1 },
        Option("names.addresses") { $0.names.addresses = [.init("a", port: $1, ["127.0.0.1"])] },
        Option("names.connectTo") { $0.names.connectTo = [.init("a", port: $1, toHost: "b", toPort: $1)] },
        Option("requestCompression") { $0.requestCompression = .gzip(level: $1) },
    ]

    /// Returns a time source whose pauses end at once.
    private func source(_ chance: Double = 0.5) -> TimeSource {
        TimeSource(now: { Date(timeIntervalSince1970: 0) }, sleep: { _ in }, random: { chance })
    }

    /// Sends a request with the options, which must either work or be refused by name.
    private func outcome(_ name: String, _ options: TransportOptions) async throws {
        let transport = AnsweringTransport(.init(body: "fine"))
        var request = try TransportRequest.make(.get, "http://a/")
        request.options = options
        do throws(NetworkError) {
            let verdict = Result { () throws in try options.check() }
            do {
                _ = try await NetworkClient(transport: transport).send(request, as: .stream).body.collect()
            } catch let error as NetworkError {
                throw error
            } catch {
                Issue.record("\(name): \(error)")
            }
            // The transport of this test supports none of the options, and must refuse them.
            if case .failure(let error) = verdict { Issue.record("\(name) was sent instead of failing with \(error)") }
        } catch {
            #expect([.invalidOption, .unsupported, .totalTimeout, .bodyTooLarge].contains(error.code), "\(error)")
            if case .failure = Result(catching: { try options.check() }) {
                #expect(error.code == .invalidOption && error.message.contains(name), "\(error)")
            }
        }
        _ = "\(options)"
        _ = request.curlCommand()
    }

    @Test(arguments: timed) func `a duration of an option is refused or taken`(option: Option<Duration>) async throws {
        for value in Self.durations {
            var options = TransportOptions()
            option.set(&options, value)
            try await outcome(option.testDescription, options)
        }
    }

    @Test(arguments: counted) func `a number for an option is refused or taken`(option: Option<Int>) async throws {
        for value in Self.numbers {
            var options = TransportOptions()
            option.set(&options, value)
            try await outcome(option.testDescription, options)
        }
    }

    @Test func `a call takes any timeout`() async {
        for timeout in Self.durations {
            let call = NetworkClient.Call(totalTimeout: timeout)
            #expect(call.remaining.map { $0 >= .zero } == true)
            await expectFailure(timeout <= .nanoseconds(1) ? .totalTimeout : .cancelled) {
                try await call.withinDeadline {
                    if timeout <= .nanoseconds(1) { try await Task.sleep(for: .seconds(60)) }
                    throw NetworkError.cancelled
                }
            }
        }
    }

    @Test(arguments: [TimeSource.system, TimeSource(clock: .continuous), TimeSource(clock: .suspending)])
    func `a pause of any length can be cancelled`(_ time: TimeSource) async {
        let sleepers = Self.durations.map { pause in Task { try await time.sleep(pause) } }
        // A pause that is cancelled before it has begun proves nothing; most have begun by this time.
        await atMost(.milliseconds(50)) { _ = try? await Task.sleep(for: .seconds(60)) }
        for sleeper in sleepers {
            sleeper.cancel()
            _ = await sleeper.result
        }
    }

    /// Regression: the pipeline added fields to as many as `HTTPFields` takes, and that trapped.
    @Test(arguments: [100, 20_000, 52_428, 52_429, 65_533, 65_534])
    func `any number of header fields is sent or refused`(count: Int) async throws {
        func fields(_ letter: String) -> HTTPFields {
            HTTPFields((0..<count).map { HTTPField(name: HTTPField.Name("\(letter)\($0)")!, value: "") })
        }
        let transport = AnsweringTransport(.init())
        var client = NetworkClient(transport: transport)
        let jar = CookieJar(publicSuffixes: .builtIn)
        try jar.set(CookieJar.Cookie(name: "n", value: "v", domain: "a.test"))
        client.cookieJar = jar
        client.exchangeInterceptors = [try BearerAuthentication(for: ["http://a.test"], token: "t")]
        var own = try TransportRequest.make(.get, "http://a.test/")
        own.headerFields = fields("a")
        let start = ContinuousClock.now
        for others in [[:], fields("b")] {
            client.headerFields = others
            for request in [own, try TransportRequest.make(.get, "http://a.test/")] {
                do {
                    _ = try await client.send(request, as: .decoded(Empty.self))
                    #expect(transport.requests.last.map { $0.headerFields.count < 65_535 } == true)
                } catch let error as NetworkError {
                    #expect(error.code == .invalidHeaderField && count > 100)
                }
            }
        }
        _ = (own.wireFields, "\(own)", own.curlCommand())
        // Seen: seconds in a debug build; minutes while each field was looked for among all others.
        #expect(ContinuousClock.now - start < .seconds(100))
    }

    @Test func `a time limit of any length is one`() async {
        for limit in Self.durations { await atMost(limit) {} }
    }

    @Test func `a back-off takes any times and chances`() {
        for first in Self.durations {
            for limit in Self.durations {
                for chance in Self.chances {
                    for failures in [Int.min, -1, 0, 1, 2, 31, 1_000, .max] {
                        let delay = BackOff(first: first, limit: limit).delay(after: failures, jitter: chance)
                        #expect(delay >= .zero && delay <= max(.zero, limit))
                    }
                }
            }
        }
    }

    @Test func `a retry policy takes any times and chances`() async throws {
        for time in Self.durations {
            for chance in Self.chances {
                var policy = RetryInterceptor.Policy()
                (policy.baseDelay, policy.maximumDelay, policy.maximumRetryAfter) = (time, time, time)
                for fields: HTTPFields in [[:], [.retryAfter: "\(Int64.max)"]] {
                    let transport = AnsweringTransport(.init(status: 503, fields: fields))
                    var client = NetworkClient(transport: transport)
                    client.interceptors = [.retry(policy, time: source(chance))]
                    #expect(try await client.send(try .make(.get, "http://a/"), as: .stream).status.code == 503)
                    #expect((1...3).contains(transport.requests.count))
                }
            }
        }
    }

    @Test(arguments: numbers) func `any number of retries and redirects from 0 on is taken`(number: Int) async throws {
        var policy = RetryInterceptor.Policy()
        policy.maximumRetries = number
        let transport = AnsweringTransport(.init(status: 503), .redirect(to: "/b"), .init(body: "fine"))
        var client = NetworkClient(transport: transport)
        client.interceptors = [
            .retry(policy, budget: RetryInterceptor.Budget(capacity: Double(number)), time: source())
        ]
        client.redirectPolicy.maximumRedirects = number
        do {
            let status = try await client.send(try .make(.get, "http://a/"), as: .stream).status.code
            #expect(status == (number >= 1 ? 200 : 503))
        } catch let error as NetworkError {
            #expect(error.code == (number < 0 ? .invalidOption : .tooManyRedirects) && number < 1)
            #expect(transport.requests.isEmpty == (number < 0))
        }
    }

    @Test func `a budget takes any numbers`() {
        for capacity in Self.chances {
            for perCall in Self.chances {
                let budget = RetryInterceptor.Budget(capacity: capacity, perCall: perCall)
                budget.earn()
                _ = budget.spend()
            }
        }
    }

    @Test func `a body takes any limit`() async throws {
        for limit in Self.numbers {
            do {
                let body = try await TransportResponse.Body(Data("abc".utf8)).collect(upTo: limit)
                #expect(body.count == 3 && limit >= 3)
            } catch let error as NetworkError {
                #expect(error.code == .bodyTooLarge && limit < 3)
            }
            for status in [200, 500] {
                let transport = AnsweringTransport(.init(status: status, body: "abc"))
                let client = NetworkClient(transport: transport)
                var request = try TransportRequest.make(.post, "http://a/")
                request.body = .replayableStream { AsyncStream { $0.finish() } }
                _ = try? await client.send(request, as: .lines(maximumLineBytes: limit)).body.first { _ in true }
            }
        }
    }

    @Test func `a length of a body is refused below zero`() async throws {
        for length in Self.numbers {
            var request = try TransportRequest.make(.post, "http://a/")
            request.body = .stream(AsyncStream<Data> { $0.finish() }, length: length)
            let sent = request
            let client = NetworkClient(transport: AnsweringTransport(.init()))
            if length < 0 {
                await expectFailure(.invalidOption) { try await client.send(sent, as: .stream) }
            } else {
                _ = try await client.send(sent, as: .stream)
            }
            _ = sent.body?.reportingProgress { _ = $0.fraction }
            let parts = [MultipartPart.stream("a", AsyncStream<Data> { $0.finish() }, length: length)]
            _ = try? RequestContent.multipart(parts + parts).encoded()
        }
    }

    @Test func `progress takes any counts`() {
        for completed in Self.numbers {
            for total in Self.numbers { _ = TransferProgress(completed: completed, total: total).fraction }
        }
    }

    @Test(arguments: durations) func `a duration for a download is refused or taken`(value: Duration) async throws {
        var options = DownloadedFile.Options()
        options.retryDelay = value
        options.time = source(.nan)
        try await download(options, isValid: value > .zero && value <= TransportOptions.maximumTimeout)
    }

    @Test(arguments: numbers) func `a number for a download is refused or taken`(value: Int) async throws {
        var options = DownloadedFile.Options()
        options.time = source()
        options.maximumRetries = value
        try await download(options, isValid: value >= 0)
        options.maximumRetries = 2
        options.maximumBytes = value
        try await download(options, isValid: value >= 0, fits: value >= 5)
    }

    private func download(
        _ options: DownloadedFile.Options,
        isValid: Bool,
        fits: Bool = true
    ) async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "extreme-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let client = NetworkClient(transport: AnsweringTransport(.init(body: "bytes")))
        let request = try TransportRequest.make(.get, "http://a/")
        if !isValid {
            await expectFailure(.invalidOption) { try await client.send(request, as: .file(path, options: options)) }
        } else if !fits {
            await expectFailure(.bodyTooLarge) { try await client.send(request, as: .file(path, options: options)) }
        } else {
            #expect(try await client.send(request, as: .file(path, options: options)).body.bytes == 5)
        }
    }

    @Test func `events take or refuse any values`() async throws {
        func check(_ name: String, _ change: (inout ServerSentEvents.Options) -> Void) async {
            var options = ServerSentEvents.Options()
            options.maximumFailures = 3
            options.time = source()
            change(&options)
            let isValid = (try? options.check()) != nil
            let answer = AnsweringTransport.Answer(fields: [.contentType: "text/event-stream"], body: "data: a\n\n")
            let client = NetworkClient(transport: AnsweringTransport(answer, answer, .init(status: 204)))
            do {
                let request = try TransportRequest.make(.get, "http://a/")
                for try await _ in try await client.send(request, as: .events(options)).body {}
                #expect(isValid)
            } catch let error as NetworkError {
                let isOfItsLimit = [.lineTooLong, .eventTooLarge, .connectionLost].contains(error.code)
                let isRefusedByName = error.code == .invalidOption && error.message.contains(name)
                #expect(isValid ? isOfItsLimit : isRefusedByName, "\(error)")
            } catch {
                Issue.record(error)
            }
        }
        for value in Self.durations {
            await check("reconnectionDelay") { $0.reconnectionDelay = value }
            await check("minimumReconnectionDelay") { $0.minimumReconnectionDelay = value }
            await check("maximumReconnectionDelay") { $0.maximumReconnectionDelay = value }
        }
        for value in Self.numbers {
            await check("maximumFailures") { $0.maximumFailures = value }
            await check("maximumLineBytes") { $0.maximumLineBytes = value }
            await check("maximumEventBytes") { $0.maximumEventBytes = value }
            var parser = ServerSentEvents.Parser(maximumLineBytes: value, maximumEventBytes: value)
            _ = parser.events(in: Data("data: a\ndata: b\n\nretry: 99999999999999999999\n\n".utf8))
        }
    }

    @Test(arguments: durations) func `a timeout for a refresh is refused or taken`(value: Duration) {
        let isValid = value > .zero && value <= TransportOptions.maximumTimeout
        let bearer = try? BearerAuthentication(for: ["http://a"], timeout: value) { _ in "t" }
        #expect((bearer != nil) == isValid)
    }

    @Test func `durations are shown whatever their length`() {
        for value in Self.durations + [.milliseconds(-500)] {
            #expect(!value.shortText.isEmpty)
            _ = value.roundedUpMilliseconds
            var metrics = TransportMetrics(total: value)
            metrics.connect = value
            _ = "\(metrics)"
        }
    }

    @Test func `a cookie takes any moment`() throws {
        let jar = CookieJar(publicSuffixes: .builtIn, now: { Date(timeIntervalSince1970: 1_700_000_000) })
        for seconds in Self.numbers.map(Double.init) + Self.chances {
            let ends = Date(timeIntervalSince1970: seconds)
            let cookie = CookieJar.Cookie(name: "a\(seconds)", value: "b", domain: "a.test", expires: ends)
            if seconds.isFinite {
                try jar.set(cookie)
            } else {
                expectFailure(.invalidOption) { try jar.set(cookie) }
            }
        }
        for age in Self.numbers {
            jar.take([.setCookie: "m\(age)=1; Max-Age=\(age)"], from: try RequestURL("http://a.test/"))
        }
        let copy = CookieJar(publicSuffixes: .builtIn)
        try copy.add(netscape: jar.netscape)
        for (name, ends) in [("over", Int64.min), ("c", .max)] {
            try copy.add(netscape: "a.test\tFALSE\t/\tFALSE\t\(ends)\t\(name)\td\n")
        }
        #expect(copy.cookies.map(\.name).contains("c"))
        _ = copy.netscape
    }
}
