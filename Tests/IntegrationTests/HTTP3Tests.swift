import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

/// HTTP/3 against Caddy, alone and in front of a scripted server.
@Suite(.enabled(if: Peers.caddyPort != nil, Peers.absence(of: Peers.caddyVariable)), .patience(minutes: 1))
struct HTTP3Tests {
    @Test(.curlSpeaksHTTP3, arguments: [TransportOptions.HTTPVersion.http3, .http3Only])
    func `HTTP 3 is spoken, and the metrics say so`(version: TransportOptions.HTTPVersion) async throws {
        let client = try HTTP3Client(version: version)
        let exchanges = [try await client.send(), try await client.send()]
        for exchange in exchanges {
            #expect(exchange.status == 200 && exchange.text == "HTTP/3.0")
            #expect(exchange.metrics.httpVersion == "3")
        }
        #expect(exchanges[0].metrics.tlsVersion == "1.3" && exchanges[0].metrics.tls != nil)
        #expect(exchanges.map(\.metrics.connectionReused) == [false, true])
        #expect(exchanges.connections.count == 1)
    }

    /// Regression: each of them opened a connection of its own.
    @Test(.curlSpeaksHTTP3, arguments: [TransportOptions.HTTPVersion.http3, .http3Only])
    func `a hundred streams share one connection and keep their bodies apart`(version: TransportOptions.HTTPVersion)
        async throws
    {
        let client = try HTTP3Client(version: version)
        let answers = try await atOnce(100) { _ in try await client.send("/numbers.txt") }
        #expect(answers.allSatisfy { $0.metrics.httpVersion == "3" })
        #expect(answers.connections.count == 1, "\(answers.connections)")
        let allAreNumbers = answers.allSatisfy { $0.body == NghttpdTests.numbers }
        #expect(allAreNumbers)
    }

    // MARK: Bodies

    @Test(.curlSpeaksHTTP3, arguments: [0, 1, 16_384, 16_385, 65_537, 1 << 20, 2 << 20])
    func `a body is the same both ways`(size: Int) async throws {
        let client = try HTTP3Client()
        let (sent, returned) = (PatternBytes.make(count: size), PatternBytes.make(count: size, from: 7))
        try await withServer(.response(body: returned)) { server in
            for body in [TransportRequest.Body.bytes(sent), .once([sent]), .once([sent], length: size)] {
                let answer = try await client.send("/", behind: server, body: body)
                let isReturned = answer.body == returned
                #expect(answer.status == 200 && isReturned && answer.metrics.httpVersion == "3")
                #expect(answer.metrics.responseBodyBytes == size && answer.metrics.requestBodyBytes == size)
            }
            let areSent = server.requests.map { $0.body == sent }
            #expect(areSent == [true, true, true])
        }
    }

    @Test(.curlSpeaksHTTP3) func `each of many streams gets its own bytes while bodies go up`() async throws {
        let client = try HTTP3Client()
        let server = DemoServer()
        try await server.start()
        let upstream = try #require(URL(string: server.baseURL)?.port)
        let strangers = try await atOnce(40) { number in
            var strangers = 0
            for round in 0..<10 {
                let size = [0, 10, 1_200, 16_384, 20_000, 65_536][(number + round) % 6]
                let bytes = Data(repeating: UInt8(number), count: size + round)
                var request = try client.request("/echo", body: round % 2 == 0 ? .bytes(bytes) : .once([bytes]))
                request.headerFields[.upstream] = "\(upstream)"
                let answer = try await Exchange(client.dispatcher.send(request))
                let echo = try JSONDecoder().decode(Echo.self, from: answer.body)
                if echo.bodyBase64 != bytes.base64EncodedString() || answer.metrics.httpVersion != "3" {
                    strangers += 1
                }
            }
            return strangers
        }
        #expect(strangers.allSatisfy { $0 == 0 })
    }

    private struct Echo: Decodable { let bodyBase64: String }

    /// A body that waits for its reader must be whole in the end, and must not stop the other streams.
    @Test(.curlSpeaksHTTP3) func `a slow reader slows down its server and nobody else`() async throws {
        let client = try HTTP3Client()
        let body = PatternBytes.make(count: 32 << 20)
        let isOut = Gate()
        let head = Script.head(200, fields: [("Content-Length", "\(body.count)")])
        try await withServer([.read, .send(head), .send(body), .open(isOut), .close]) { server in
            let slow = try await client.start("/", behind: server)
            var chunks = slow.body.makeAsyncIterator()
            var received = try await chunks.next() ?? Data()
            for _ in 0..<20 {
                let isNumbers = try await client.send("/numbers.txt").body == NghttpdTests.numbers
                #expect(isNumbers)
            }
            // Not all of it is in buffers by now.
            #expect(!isOut.isOpen)
            while let chunk = try await chunks.next() { received += chunk }
            let isWhole = received == body
            #expect(isWhole && slow.metrics.httpVersion == "3")
        }
    }

    @Test(.curlSpeaksHTTP3) func `many slow readers each get their body`() async throws {
        let client = try HTTP3Client()
        let whole = try await atOnce(30) { number in
            let response = try await client.start("/numbers.txt")
            var received = Data()
            for try await chunk in response.body {
                received += chunk
                // Others go first, again and again.
                for _ in 0..<number { await Task.yield() }
            }
            return received == NghttpdTests.numbers
        }
        #expect(whole == Array(repeating: true, count: 30))
    }

    @Test(.curlSpeaksHTTP3) func `bodies that are dropped or cancelled leave the other streams alone`() async throws {
        let client = try HTTP3Client()
        let whole = try await atOnce(60) { number -> Bool? in
            switch number % 3 {
            case 0: return try await client.send("/numbers.txt").body == NghttpdTests.numbers
            case 1: _ = try await client.start("/10m")
            default:
                let task = Task { try await client.send("/10m") }
                for _ in 0..<number { await Task.yield() }
                task.cancel()
                _ = await task.result
            }
            return nil
        }
        #expect(whole.compactMap(\.self) == Array(repeating: true, count: 20))
        let last = try await client.send()
        #expect(last.text == "HTTP/3.0" && last.metrics.connectionReused == true)
    }

    // MARK: Heads

    @Test(.curlSpeaksHTTP3, arguments: [204, 304])
    func `a status without a body ends at once`(status: Int) async throws {
        try await withServer(Script.raw("HTTP/1.1 \(status) X\r\nX-Mark: yes\r\n\r\n")) { server in
            let answer = try await HTTP3Client().send("/", behind: server)
            #expect(answer.status == status && answer.body.isEmpty && answer.metrics.httpVersion == "3")
        }
    }

    @Test(.curlSpeaksHTTP3) func `HEAD has the length of the file and no body`() async throws {
        let response = try await HTTP3Client().start("/numbers.txt", .head)
        #expect(response.head.headerFields[.contentLength] == "1048576")
        #expect(try await response.body.collect().isEmpty)
    }

    @Test(.curlSpeaksHTTP3) func `trailers arrive`() async throws {
        let text =
            "HTTP/1.1 200 OK\r\nTrailer: X-Mark\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nX-Mark: yes\r\n\r\n"
        try await withServer(Script.raw(text)) { server in
            let answer = try await HTTP3Client().send("/", behind: server)
            #expect(answer.text == "hi")
            #expect(answer.trailers?[try #require(HTTPField.Name("X-Mark"))] == "yes")
        }
    }

    // MARK: Failures

    /// The server behind Caddy closes within the body, and Caddy resets the stream (H3_INTERNAL_ERROR): perhaps before
    /// it has sent the head.
    @Test(.curlSpeaksHTTP3, arguments: [false, true])
    func `a stream that is reset is a lost one, and the connection goes on`(isInBody: Bool) async throws {
        let (head, isRead) = (Script.head(200, fields: [("Content-Length", "100")]), Gate())
        let script: Script = [.read, .send(head), .send("0123456789"), .wait(until: isRead), .close]
        try await withServer(isInBody ? script : .truncated) { server in
            let client = try HTTP3Client()
            if isInBody {
                let response = try await client.start("/", behind: server)
                isRead.open()
                await expectFailure(.truncatedBody) { try await response.body.collect() }
            } else {
                let error = await #expect(throws: NetworkError.self) { try await client.send("/", behind: server) }
                #expect([.connectionLost, .truncatedBody].contains(error?.code), "\(String(describing: error))")
            }
            let next = try await client.send()
            #expect(next.text == "HTTP/3.0" && next.metrics.connectionReused == true)
        }
    }

    enum Limit: CaseIterable {
        case firstByte, idle, total

        var code: NetworkError.Code {
            switch self {
            case .firstByte: .firstByteTimeout
            case .idle: .idleTimeout
            case .total: .totalTimeout
            }
        }

        func set(_ options: inout TransportOptions) {
            switch self {
            case .firstByte: options.firstByteTimeout = .milliseconds(300)
            case .idle: options.idleTimeout = .milliseconds(300)
            case .total: options.totalTimeout = .milliseconds(300)
            }
        }
    }

    @Test(.curlSpeaksHTTP3, arguments: Limit.allCases)
    func `a timeout ends its own stream`(limit: Limit) async throws {
        try await withServer(.stalled) { server in
            let client = try HTTP3Client()
            _ = try await client.send()
            await expectFailure(limit.code) { try await client.send("/", behind: server, options: limit.set) }
            #expect(try await client.send().metrics.connectionReused == true)
        }
    }

    @Test(.curlSpeaksHTTP3) func `a cancelled request ends at once`() async throws {
        let isRead = Gate()
        try await withServer([.read, .open(isRead), .stall]) { server in
            let client = try HTTP3Client()
            let task = Task { try await client.send("/", behind: server) }
            try await isRead.wait()
            task.cancel()
            await expectFailure(.cancelled) { try await task.value }
            #expect(try await client.send().text == "HTTP/3.0")
        }
    }

    // MARK: TLS and addresses

    private static let pin = "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

    /// Each with QUIC alone, so that nothing is left to a second connection.
    @Test(.curlSpeaksHTTP3, arguments: [TransportOptions.HTTPVersion.http3, .http3Only])
    func `what TLS refuses is refused over QUIC`(version: TransportOptions.HTTPVersion) async throws {
        let client = try HTTP3Client(version: version)
        let pin = try String(decoding: Peers.tlsFile("good.pin"), as: UTF8.self)
        #expect(try await client.send { $0.tls.pinnedPublicKeys = [pin] }.metrics.httpVersion == "3")
        await expectFailure(.pinnedKeyMismatch) { try await client.send { $0.tls.pinnedPublicKeys = [Self.pin] } }
        await expectFailure(.certificateUntrusted) { try await client.send { $0.tls.authorities = .system } }
        await expectFailure(.addressRefused) { try await client.send { $0.addressPolicy = .noPrivateRanges } }
        #expect(try await client.send { $0.tls.minimumVersion = .tls1_3 }.metrics.httpVersion == "3")
    }

    @Test(.curlSpeaksHTTP3) func `a client certificate is shown over QUIC`() async throws {
        let client = try HTTP3Client(Peers.port(of: .clientCertificate), host: "localhost")
        let exchange = try await client.send {
            $0.tls.clientCertificate = .init(
                .file(Peers.tlsFolder + "/client.pem"), key: .file(Peers.tlsFolder + "/client.key"),
                password: "open sesame")
        }
        #expect(exchange.text == "CN=client" && exchange.metrics.httpVersion == "3")
        let error = await #expect(throws: NetworkError.self) { try await client.send() }
        // The server's refusal comes before the request is out, or after it.
        #expect([.clientCertificateRequired, .connectFailed, .connectionLost].contains(error?.code))
    }

    static let obstacles: [(String, @Sendable (inout TransportRequest) throws -> Void)] = [
        ("an https URL", { $0.url = try RequestURL("http://127.0.0.1:1/") }),
        ("proxy", { $0.options.proxy = .explicit(.init("http://127.0.0.1:1")) }),
        ("connection.unixSocket", { $0.options.connection.unixSocket = .path("/tmp/none") }),
        ("tls.maximumVersion", { $0.options.tls.maximumVersion = .tls1_2 }),
        ("connection.forbidsReuse", { $0.options.connection.forbidsReuse = true }),
    ]

    @Test(.curlSpeaksHTTP3, arguments: obstacles)
    func `what can't go over QUIC is refused by name`(
        name: String, change: @Sendable (inout TransportRequest) throws -> Void
    ) async throws {
        let client = try HTTP3Client()
        var request = try client.request("/")
        try change(&request)
        let refused = request
        let error = await expectFailure(.unsupported, in: .preparing) { try await client.dispatcher.send(refused) }
        #expect(error?.message.contains(name) == true, "\(error?.message ?? "")")
    }

    @Test(.curlSpeaksHTTP3) func `a connection is opened ahead`() async throws {
        let client = try HTTP3Client()
        let request = try client.request("/proto")
        try await client.dispatcher.prewarm(request.url, options: request.options)
        #expect(try await client.send().metrics.connectionReused == true)
    }
}
