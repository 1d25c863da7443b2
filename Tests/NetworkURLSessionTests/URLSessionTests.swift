import NetworkCore
import NetworkTesting
import NetworkURLSession
import Synchronization
import TestSupport
import Testing

/// URLSession's interface over the default transport.
@Suite("URLSession over a client", .patience(minutes: 2))
struct URLSessionTests {
    private let session = URLSession(configuration: .ephemeral)

    private func request(_ server: ScriptedServer, _ change: (inout URLRequest) -> Void = { _ in }) throws -> URLRequest
    {
        var request = URLRequest(url: try #require(URL(string: server.url("/x"))))
        change(&request)
        return request
    }

    /// One response, after which the connection ends.
    private static func once(_ status: Int = 200, fields: [(String, String)] = [], _ body: String = "") -> Script {
        let length = ("Content-Length", "\(body.utf8.count)")
        return [.read, .send(Script.head(status, fields: fields + [length])), .send(body), .close]
    }

    private func code(_ work: () async throws -> Void) async -> URLError.Code? {
        do {
            try await work()
            return nil
        } catch { return (error as? URLError)?.code }
    }

    /// Notes the calls, and decides as its values say.
    private final class Delegate: NSObject, URLSessionDataDelegate {
        private let events = Guarded<[String]>([])
        private let given = Guarded<URLSessionTaskMetrics?>(nil)
        private let body = Guarded(Data())
        var seen: [String] { events.withLock { $0 } }
        var metrics: URLSessionTaskMetrics? { given.withLock { $0 } }
        var bodyBytes: Int { body.withLock { $0.count } }
        let completed = Gate()
        let credential: URLCredential?
        let follows: Bool

        init(credential: URLCredential? = nil, follows: Bool = true) {
            (self.credential, self.follows) = (credential, follows)
        }

        private func note(_ event: String) { events.withLock { $0.append(event) } }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
            totalBytesExpectedToSend: Int64
        ) { note("sent \(bytesSent), \(totalBytesSent) of \(totalBytesExpectedToSend)") }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            note("metrics")
            given.withLock { $0 = metrics }
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            note("redirect \(response.statusCode)")
            var request = request
            request.setValue("yes", forHTTPHeaderField: "X-Redirected")
            completionHandler(follows ? request : nil)
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
        ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
            note("challenge \(challenge.protectionSpace.realm ?? "") \(challenge.previousFailureCount)")
            guard let credential, challenge.previousFailureCount < 2 else {
                return (.cancelAuthenticationChallenge, nil)
            }
            return (.useCredential, credential)
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            note("completed \((error as? URLError)?.code.rawValue ?? 0)")
            completed.open()
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            body.withLock { $0 += data }
        }
    }

    @Test func `data has the body, any status and the metrics`() async throws {
        try await withServer(.response(404, fields: [("X-Kind", "none")], body: Data("gone".utf8))) { server in
            let delegate = Delegate()
            let (data, response) = try await session.data(for: try request(server), delegate: delegate)
            let head = try #require(response as? HTTPURLResponse)
            #expect(data == Data("gone".utf8) && head.statusCode == 404)
            #expect(head.value(forHTTPHeaderField: "x-kind") == "none")
            #expect(delegate.seen == ["metrics", "completed 0"])
            let metrics = try #require(delegate.metrics)
            let exchange = try #require(metrics.transactionMetrics.first)
            #expect(metrics.transactionMetrics.count == 1 && metrics.redirectCount == 0)
            #expect(exchange.networkProtocolName == "http/1.1" && exchange.countOfResponseBodyBytesReceived == 4)
            #expect(exchange.remotePort == Int(server.port) && exchange.remoteAddress == "127.0.0.1")
            let start = try #require(exchange.fetchStartDate)
            #expect(try start <= #require(exchange.connectStartDate) && !exchange.isReusedConnection)
            #expect(try #require(exchange.connectEndDate) <= #require(exchange.responseEndDate))
        }
    }

    @Test(arguments: ["data", "file", "stream"])
    func `a body is sent`(kind: String) async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "upload-\(UUID())")
        try Data("payload".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try await withServer(.ok("thanks")) { server in
            var post = try request(server) { $0.httpMethod = "POST" }
            let delegate = Delegate()
            let data: Data
            switch kind {
            case "data": (data, _) = try await session.upload(for: post, from: Data("payload".utf8), delegate: delegate)
            case "file": (data, _) = try await session.upload(for: post, fromFile: file, delegate: delegate)
            default:
                post.httpBodyStream = InputStream(data: Data("payload".utf8))
                (data, _) = try await session.data(for: post, delegate: delegate)
            }
            #expect(delegate.seen == ["sent 7, 7 of \(kind == "stream" ? -1 : 7)", "metrics", "completed 0"])
            #expect(data == Data("thanks".utf8) && server.requests.map(\.body) == [Data("payload".utf8)])
        }
    }

    @Test func `bytes arrive one by one, in lines as on Apple's platforms`() async throws {
        try await withServer(.ok("one\r\n\r\ntwo\n\nthr\u{2028}ee")) { server in
            let (bytes, response) = try await session.bytes(for: try request(server))
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            var lines: [String] = []
            for try await line in bytes.lines { lines.append(line) }
            #expect(lines == ["one", "two", "thr", "ee"] && bytes.task.state == .completed)
        }
    }

    @Test func `bytes that are not read hold the server up`() async throws {
        let (gate, chunk) = (Gate(), Data(repeating: 7, count: 1 << 20))
        let steps: [Script.Step] =
            [.read, .send(Script.head(200, fields: [("Content-Length", "\(64 << 20)")]))]
            + Array(repeating: Script.Step.send(chunk), count: 64) + [.open(gate), .close]
        try await withServer(Script(steps)) { server in
            let (bytes, _) = try await session.bytes(for: try request(server))
            var iterator = bytes.makeAsyncIterator()
            var count = 0
            while count < 1 << 20, try await iterator.next() != nil { count += 1 }
            // What is in the buffers of both sides is far below the rest.
            #expect(!gate.isOpen)
            #expect(count == 1 << 20)
        }
    }

    @Test func `a download is a file`() async throws {
        try await withServer(.response(body: Data(repeating: 7, count: 100_000))) { server in
            let (file, response) = try await session.download(for: try request(server))
            defer { try? FileManager.default.removeItem(at: file) }
            #expect(try Data(contentsOf: file).count == 100_000 && response.expectedContentLength == 100_000)
        }
    }

    @Test func `a download that breaks off leaves no file`() async throws {
        try await withServer([.read, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhel"), .close]) { server in
            #expect(await code { _ = try await session.download(for: try request(server)) } == .networkConnectionLost)
        }
    }

    @Test func `a redirect is decided by the delegate`() async throws {
        let redirect = Self.once(302, fields: [("Location", "/y"), ("Connection", "close")])
        try await withServer(redirect, .ok("there")) { server in
            let delegate = Delegate()
            let (data, response) = try await session.data(for: try request(server), delegate: delegate)
            #expect(data == Data("there".utf8) && response.url?.path == "/y")
            #expect(server.requests.last?.values(of: "X-Redirected") == ["yes"])
            #expect(delegate.seen.first == "redirect 302")
            let metrics = delegate.metrics
            #expect(metrics?.redirectCount == 1 && metrics?.transactionMetrics.count == 2)
        }
        try await withServer(redirect) { server in
            let (_, response) = try await session.data(for: try request(server), delegate: Delegate(follows: false))
            #expect((response as? HTTPURLResponse)?.statusCode == 302)
        }
    }

    @Test func `a challenge is met with the delegate's credential`() async throws {
        let fields = [("WWW-Authenticate", "Basic realm=\"shop\""), ("Connection", "close")]
        let challenge = Self.once(401, fields: fields)
        let credential = URLCredential(user: "me", password: "pw", persistence: .none)
        try await withServer(challenge, .ok("in")) { server in
            let delegate = Delegate(credential: credential)
            let (data, _) = try await session.data(for: try request(server), delegate: delegate)
            #expect(data == Data("in".utf8) && delegate.seen.first == "challenge shop 0")
            #expect(server.requests.last?.headerLines.contains("Authorization: Basic bWU6cHc=") == true)
        }
        try await withServer(challenge, challenge, challenge) { server in
            let request = try request(server)
            let delegate = Delegate(credential: credential)
            #expect(await code { _ = try await session.data(for: request, delegate: delegate) } == .cancelled)
            #expect(server.requests.count == 3)
        }
    }

    @Test func `each failure has the code that programs know`() async throws {
        let closed = try ClosedPort()
        defer { closed.stop() }
        var cases: [(String, URLError.Code)] = [
            (closed.url(), .cannotConnectToHost), ("http://no-such-host.invalid/", .cannotFindHost),
            ("ftp://127.0.0.1/", .unsupportedURL), ("data:text/plain,x", .unsupportedURL),
        ]
        let silent = try ScriptedServer([.read, .stall])
        let lost = try ScriptedServer([.read, .close])
        let strange = try ScriptedServer([.read, .send("SIP/2.0 200 OK\r\n\r\n"), .close])
        let circle = try ScriptedServer(
            .init([.forEachRequest([.send(Script.head(302, fields: [("Location", "/x")]))])]))
        defer { [silent, lost, strange, circle].forEach { $0.stop() } }
        cases += [
            (silent.url(), .timedOut), (lost.url(), .networkConnectionLost), (strange.url(), .badServerResponse),
        ]
        for (url, expected) in cases {
            var request = URLRequest(url: try #require(URL(string: url)))
            request.timeoutInterval = url == silent.url() ? 0.2 : 20
            do {
                _ = try await session.data(for: request)
                Issue.record("\(url) succeeded")
            } catch let error as URLError {
                #expect(error.code == expected, "\(url): \(error)")
                #expect(error.networkError != nil && error.failingURL == request.url)
            }
        }
    }

    @Test func `cancelling ends a call, and bytes`() async throws {
        try await withServer([.read, .stall]) { server in
            let request = try request(server)
            let running = Task { try await session.data(for: request) }
            try await server.wait { !$0.requests.isEmpty }
            running.cancel()
            #expect(await code { _ = try await running.value } == .cancelled)
        }
        try await withServer([.read, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhel"), .stall]) { server in
            let delegate = Delegate()
            let (bytes, _) = try await session.bytes(for: try request(server), delegate: delegate)
            var iterator = bytes.makeAsyncIterator()
            for _ in 0..<3 { _ = try await iterator.next() }
            bytes.task.cancel()
            do {
                _ = try await iterator.next()
                Issue.record("there was a fourth byte")
            } catch { #expect((error as? URLError)?.code == .cancelled) }
            #expect(delegate.seen == ["metrics", "completed -999"])
        }
    }

    @Test func `bytes that are dropped end the task and the connection`() async throws {
        try await withServer([.read, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhel"), .stall]) { server in
            let delegate = Delegate()
            do { _ = try await session.bytes(for: try request(server), delegate: delegate) }
            try await delegate.completed.wait()
            #expect(delegate.seen.last == "completed -999")
            try await server.wait { $0.connectionsEndedByPeer == 1 }
        }
    }

    @Test func `a task calls its handler once, also when it is cancelled before its start`() async throws {
        try await withServer(.ok("hello")) { server in
            let request = try request(server)
            let (data, code) = await withCheckedContinuation { continuation in
                session.dataTask(with: request) { data, response, error in
                    continuation.resume(returning: (data, (response as? HTTPURLResponse)?.statusCode))
                }.resume()
            }
            #expect(data == Data("hello".utf8) && code == 200)
            let error = await withCheckedContinuation { continuation in
                let task = session.dataTask(with: request) { continuation.resume(returning: $2) }
                task.cancel()
                task.resume()
            }
            #expect((error as? URLError)?.code == .cancelled && server.requests.count == 1)
        }
    }

    @Test func `a task without a handler tells the delegate of the session`() async throws {
        try await withServer(.response(body: Data(repeating: 7, count: 300_000))) { server in
            let delegate = Delegate()
            let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
            session.dataTask(with: try request(server)).resume()
            try await delegate.completed.wait()
            #expect(delegate.bodyBytes == 300_000)
            #expect(delegate.seen == ["metrics", "completed 0"])
            session.finishTasksAndInvalidate()
            let request = try request(server)
            #expect(await code { _ = try await session.data(for: request) } == .cancelled)
            #expect(session.delegate == nil)
        }
    }

    /// Regression: a task was added to its session later than it was started.
    @Test func `a task that was started ends, although the session was told to finish`() async throws {
        try await withServer(.ok("hello")) { server in
            let delegate = Delegate()
            let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
            session.dataTask(with: try request(server)).resume()
            session.finishTasksAndInvalidate()
            try await delegate.completed.wait()
            #expect(delegate.seen == ["metrics", "completed 0"] && delegate.bodyBytes == 5)
        }
    }

    /// A delegate that cancels in place of calling back, and one that calls back twice.
    private final class Silent: NSObject, URLSessionDataDelegate {
        let completed = Gate()
        let cancels: Bool
        init(cancels: Bool) { self.cancels = cancels }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            guard cancels else { return (0..<2).forEach { _ in completionHandler(.allow) } }
            dataTask.cancel()
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            #expect((error as? URLError)?.code == (cancels ? .cancelled : nil))
            completed.open()
        }
    }

    /// Regression: the first one hung its task, and the second one ended the process.
    @Test(arguments: [true, false]) func `a delegate need not call back once`(cancels: Bool) async throws {
        try await withServer(.ok("hello")) { server in
            let delegate = Silent(cancels: cancels)
            let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
            session.dataTask(with: try request(server)).resume()
            try await delegate.completed.wait()
        }
    }

    /// Regression: the request began again at the first server, with the password for the second one.
    @Test func `a challenge after a redirect is the response`() async throws {
        let challenge = [("WWW-Authenticate", "Basic realm=\"other\"")]
        try await withServer(Self.once(401, fields: challenge)) { other in
            try await withServer(Self.once(302, fields: [("Location", other.url("/in"))]), .ok()) { server in
                let credential = URLCredential(user: "me", password: "pw", persistence: .none)
                let delegate = Delegate(credential: credential)
                let (_, response) = try await session.data(for: try request(server), delegate: delegate)
                #expect((response as? HTTPURLResponse)?.statusCode == 401 && server.requests.count == 1)
                #expect(!server.requests[0].headerLines.contains { $0.hasPrefix("Authorization:") })
            }
        }
    }

    /// Sends a redirect to another URL than the server's.
    private final class Diverting: NSObject, URLSessionTaskDelegate {
        let url: URL
        init(to url: URL) { self.url = url }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest
        ) async -> URLRequest? { URLRequest(url: url) }
    }

    /// Regression: the options of the client went along, which the delegate does not see.
    @Test func `a redirect that a delegate sends to another server has no password`() async throws {
        try await withServer(.ok("other")) { other in
            try await withServer(Self.once(302, fields: [("Location", "/y")])) { server in
                let configuration = URLSessionConfiguration.ephemeral
                configuration.client.options.authentication = .basic(user: "me", password: "pw")
                let delegate = Diverting(to: try #require(URL(string: other.url("/z"))))
                let session = URLSession(configuration: configuration)
                _ = try await session.data(for: try request(server), delegate: delegate)
                #expect(server.requests.first?.headerLines.contains { $0.hasPrefix("Authorization:") } == true)
                #expect(other.requests.count == 1)
                #expect(other.requests.first?.headerLines.contains { $0.hasPrefix("Authorization:") } == false)
            }
        }
    }

    @Test func `the configuration gives fields, cookies and timeouts`() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["X-Key": "k", "Accept": "text/plain"]
        let session = URLSession(configuration: configuration)
        configuration.timeoutIntervalForResource = 0.3
        let hasty = URLSession(configuration: configuration)
        let cookie = [("Set-Cookie", "a=b"), ("Connection", "close")]
        try await withServer(Self.once(fields: cookie), Self.once(fields: [("Connection", "close")]), [.read, .stall]) {
            server in
            _ = try await session.data(
                for: try request(server) { $0.setValue("text/html", forHTTPHeaderField: "accept") })
            let first = try #require(server.requests.first?.headerLines)
            #expect(first.contains("X-Key: k") && first.count { $0.lowercased() == "accept: text/html" } == 1)
            #expect(!first.contains { $0.lowercased().hasPrefix("cookie:") || $0 == "Accept: text/plain" })
            _ = try await session.data(for: try request(server))
            #expect(server.requests.last?.headerLines.contains("Cookie: a=b") == true)
            let request = try request(server) { $0.httpShouldHandleCookies = false }
            #expect(await code { _ = try await hasty.data(for: request) } == .timedOut)
            #expect(server.requests.last?.headerLines.contains { $0.hasPrefix("Cookie:") } == false)
        }
    }
}
