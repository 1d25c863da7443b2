import Foundation
import NetworkLayer
import NetworkTesting
import Synchronization
import TestSupport
import Testing

/// The behaviours that the conformance tests of the Swift HTTP API proposal name, each as a case of its own
/// (https://github.com/apple/swift-http-api-proposal). Most of them have more cases elsewhere in this suite. The
/// article 'Where the transports differ' has the list with its outcomes.
@Suite(.patience(minutes: 1))
struct ProposalContract {
    struct Behaviour: Sendable, CustomTestStringConvertible {
        let name: String
        /// The behaviour, as the article has it.
        let summary: String
        let exclusions: [Exclusion.Case]
        let check: @Sendable (ContractTransport) async throws -> Void

        var testDescription: String { name }

        init(
            _ name: String, _ summary: String, unless exclusions: Exclusion.Case...,
            check: @escaping @Sendable (ContractTransport) async throws -> Void
        ) {
            (self.name, self.summary, self.exclusions, self.check) = (name, summary, exclusions, check)
        }

        /// Creates a behaviour of one exchange with a server that runs a script.
        init(
            _ name: String, _ summary: String, _ method: HTTPRequest.Method = .get,
            fields: [(String, String)] = [], body: Data? = nil, to script: Script,
            unless exclusions: Exclusion.Case..., options: @escaping ContractCase.Change = { _ in },
            check: @escaping ContractCase.Check
        ) {
            (self.name, self.summary, self.exclusions) = (name, summary, exclusions)
            self.check = { transport in
                try check(
                    try await transport.send(method, to: script, fields: fields, body: body, options: options))
            }
        }

        /// Creates a behaviour of an exchange that fails.
        init(
            _ name: String, _ summary: String, to script: Script, failing codes: NetworkError.Code...,
            unless exclusions: Exclusion.Case...
        ) {
            (self.name, self.summary, self.exclusions) = (name, summary, exclusions)
            self.check = { transport in
                let error = await #expect(throws: NetworkError.self) { try await transport.send(to: script) }
                #expect(error.map { codes.contains($0.code) } == true, "\(error as Any)")
            }
        }

        /// The exclusion of a transport, if it has one here.
        func exclusion(of kind: String) -> Exclusion? {
            Exclusion.all.first { $0.transport == kind && exclusions.contains($0.name) }
        }
    }

    private static func text(_ lines: String..., body: String = "") -> Script {
        .raw(lines.joined(separator: "\r\n") + "\r\n\r\n" + body)
    }

    private static func encoded(_ encoding: String, _ base64: String) throws -> Script {
        .response(fields: [("Content-Encoding", encoding)], body: try #require(Data(base64Encoded: base64)))
    }

    private static let ok = "HTTP/1.1 200 OK"
    private static let million = Data(repeating: UInt8(ascii: "A"), count: 1_000_000)

    // MARK: Heads and framing

    private static let framing: [Behaviour] = [
        Behaviour("testNotHTTP", "bytes that are not HTTP are an error", to: .garbage, failing: .invalidResponse),
        Behaviour(
            "testBadHTTPCase", "`http/1.1` in a status line is an error",
            to: text("http/1.1 200 OK", "Content-Length: 0"), failing: .invalidResponse, unless: .versionCase),
        Behaviour(
            "testNoReason", "a status line needs no reason",
            to: text("HTTP/1.1 200", "Content-Length: 4", body: "1234"),
            unless: .headWithoutReason
        ) { #expect($0.status == 200 && $0.text == "1234") },
        Behaviour(
            "test204WithContentLength", "a 204 has no body, whatever its length says",
            to: text("HTTP/1.1 204 No Content", "Content-Length: 1000")
        ) { #expect($0.status == 204 && $0.body.isEmpty) },
        Behaviour(
            "test304WithContentLength", "a 304 has no body, whatever its length says",
            to: text("HTTP/1.1 304 Not Modified", "Content-Length: 1000")
        ) { #expect($0.status == 304 && $0.body.isEmpty) },
        Behaviour(
            "testIncompleteBody", "a body shorter than its length is an error",
            to: text(ok, "Content-Length: 1000", body: "1234"), failing: .truncatedBody),
        Behaviour("testNoLengthHint", "a body without a length ends with its connection", to: text(ok, body: "1234")) {
            #expect($0.text == "1234")
        },
        Behaviour(
            "testConflictingContentLength", "two different lengths are an error",
            to: text(ok, "Content-Length: 4", "Content-Length: 5", body: "1234"), failing: .invalidResponse,
            unless: .conflictingLengths),
        Behaviour(
            "testHeadWithContentLength", "a response to HEAD has a length and no body", .head,
            to: text(ok, "Content-Length: 1000")
        ) { #expect($0.body.isEmpty && $0.values(of: "Content-Length") == ["1000"]) },
    ]

    // MARK: Statuses and fields

    private static let messages: [Behaviour] = [
        Behaviour("testOk", "HEAD, GET, PUT, POST and DELETE get an empty 200") { transport in
            try await withServer(.ok()) { server async throws in
                for method in [HTTPRequest.Method.head, .get, .put, .post, .delete] {
                    let answer = try await transport.send(method, server.url())
                    #expect(answer.status == 200 && answer.body.isEmpty, "\(method)")
                }
            }
        },
        Behaviour("testNotFound", "a 404 is a response", to: .response(404)) { #expect($0.status == 404) },
        Behaviour("testStatusOutOfRangeButValid", "a 999 is a response", to: .response(999)) {
            #expect($0.status == 999)
        },
        Behaviour("testCustomHeader", "a field of one's own is sent", fields: [("X-Foo", "BARbaz")], to: .ok()) {
            #expect($0.request?.values(of: "X-Foo") == ["BARbaz"])
        },
        Behaviour("testClientSendsEmptyHeaderValue", "an empty value is sent", fields: [("X-Test", "")], to: .ok()) {
            #expect($0.request?.values(of: "X-Test") == [""])
        },
        Behaviour(
            "testClientSendsMultiValueHeader", "a field that is given twice is sent, apart or joined",
            fields: [("X-Test", "one"), ("X-Test", "two")], to: .ok()
        ) { #expect($0.request?.values(of: "X-Test").joined(separator: ", ") == "one, two") },
        Behaviour(
            "testServerSendsMultiValueHeader", "a field that comes twice is read, apart or joined",
            to: .ok(fields: [("X-Test", "one"), ("X-Test", "two")])
        ) { #expect($0.values(of: "X-Test").joined(separator: ", ") == "one, two") },
        Behaviour("testURLParams", "names may come twice in a query, and values be empty") { transport in
            try await withServer(.ok()) { server async throws in
                var data = RequestData(path: server.url("/request"), query: ["foo": ["bar", "phew"], "qux": ""])
                data.parameters = ["bar": "baz"]
                _ = try await transport.client.send(data, as: .data)
                #expect(server.requests.map(\.target) == ["/request?foo=bar&foo=phew&qux=&bar=baz"])
            }
        },
        Behaviour("testBasicCookieSetAndUse", "a client's jar sends a cookie back") { transport in
            try await withServer(.ok(fields: [("Set-Cookie", "foo=bar; Path=/")])) { server async throws in
                let client = transport.client.with { $0.cookieJar = CookieJar() }
                for _ in 0..<2 { _ = try await client.send(RequestData(path: server.url()), as: .data) }
                #expect(server.requests.map { $0.values(of: "Cookie") } == [[], ["foo=bar"]])
            }
        },
        Behaviour("testETag", "a cache asks whether its response is fresh", unless: .cache) { transport in
            try await withServer(
                [.read, .respond(200, "0", fields: [("ETag", "0"), ("Connection", "close")])], [.read, .respond(304)]
            ) { server async throws in
                for _ in 0..<2 {
                    #expect(try await transport.send(.get, server.url()).text == "0")
                }
                #expect(server.requests.map { $0.values(of: "If-None-Match") } == [[], ["0"]])
            }
        },
        Behaviour("testBasicRedirect", "a 301 and a 308 are followed") { transport in
            for status in [301, 308] {
                try await withServer(
                    [.read, .respond(status, fields: [("Location", "/request"), ("Connection", "close")])], .ok("here")
                ) { server async throws in
                    #expect(try await transport.client.send(RequestData(path: server.url()), as: .text).body == "here")
                    #expect(server.requests.map(\.target) == ["/", "/request"])
                }
            }
        },
        Behaviour("testInfiniteRedirect", "redirects without end are an error") { transport in
            try await withServer(.response(302, fields: [("Location", "/ping")])) { server async throws in
                _ = await expectFailure(.tooManyRedirects) {
                    try await transport.client.send(RequestData(path: server.url("/ping")), as: .data)
                }
            }
        },
    ]

    // MARK: Bodies

    private static let bodies: [Behaviour] = [
        Behaviour(
            "testEchoString", "a text goes and comes", .post, body: Data("Hello World".utf8), to: .ok("Hello World")
        ) { #expect($0.text == "Hello World" && $0.request?.body == $0.body) },
        Behaviour("testEcho1MBBody", "a megabyte goes and comes", .post, body: million, to: .response(body: million)) {
            #expect(($0.request?.body == million, $0.body == million) == (true, true))
        },
        Behaviour(
            "testGzip", "gzip is decoded",
            to: .response(fields: [("Content-Encoding", "gzip")], body: Gzip.stored(million))
        ) { #expect($0.body.count == million.count) },
        Behaviour("testDeflate", "deflate is decoded") { transport in
            let answer = try await transport.send(to: encoded("deflate", "eJwLcQ0O4QqBEwAgjgPf"))
            #expect(answer.text == "TEST\nTEST\nTEST\n")
        },
        Behaviour("testBrotli", "Brotli is decoded", unless: .brotliBody) { transport in
            let text = "Gz8B+I1Utb8GEZOjk2lsbzXIbDXARzqx2j4A"
            let answer = try await transport.send(to: encoded("br", text)) { $0.acceptedEncodings = [.brotli] }
            #expect(answer.text == String(repeating: "hello in brotli ", count: 20))
        },
        Behaviour(
            "testIdentity", "the identity coding is left alone",
            to: .response(fields: [("Content-Encoding", "identity")], body: million)
        ) { #expect($0.body.count == million.count) },
        Behaviour(
            "testEmptyChunkedBody", "a stream of no bytes is an empty body", unless: .streamedUpload
        ) { transport in
            try await withServer(.ok()) { server async throws in
                for length in [0, nil] {
                    let request = try transport.request(.post, server.url(), body: .once([], length: length))
                    _ = try await transport.transport.send(request).body.collect()
                }
                #expect(server.requests.map(\.body.count) == [0, 0])
            }
        },
        Behaviour("testGetConvenience", "one call gets a body", to: .ok("hi")) { #expect($0.text == "hi") },
        Behaviour("testPostConvenience", "one call posts a body") { transport in
            try await withServer(.ok("hi")) { server async throws in
                let data = RequestData(path: server.url(), method: .post, content: .text("Hello"))
                #expect(try await transport.client.send(data, as: .text).body == "hi")
                #expect(server.requests.map(\.body) == [Data("Hello".utf8)])
            }
        },
        Behaviour("testUnderRead", "a body may be left after its first byte") { transport in
            try await withServer(.response(body: million)) { server async throws in
                var chunks = try await transport.start(.get, server.url()).body.makeAsyncIterator()
                #expect(try await chunks.next()?.first == UInt8(ascii: "A"))
            }
        },
        Behaviour("testDripRead", "a body may be read byte by byte") { transport in
            try await withServer(.response(body: million)) { server async throws in
                var count = 0
                for try await chunk in try await transport.start(.get, server.url()).body {
                    for byte in chunk where byte == UInt8(ascii: "A") { count += 1 }
                }
                #expect(count == million.count)
            }
        },
        Behaviour("testTrailerRead", "trailer fields of a response are read", unless: .trailers) { transport in
            let text = "\(ok)\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n1234\r\n0\r\nX-One: 1\r\nX-Two: 2\r\n\r\n"
            try await withServer(.raw(text)) { server async throws in
                let body = try await transport.start(.get, server.url()).body
                #expect(try await body.collect() == Data("1234".utf8))
                #expect(body.trailers == [.init("X-One")!: "1", .init("X-Two")!: "2"])
            }
        },
        Behaviour("testTrailerWrite", "trailer fields of a request are sent", unless: .requestTrailers) { transport in
            try await withServer(.ok()) { server async throws in
                let body = TransportRequest.Body.bytes(Data("Hello World".utf8)).followed {
                    [.init("X-One")!: "1", .init("X-Two")!: "2"]
                }
                _ = try await transport.transport.send(transport.request(.post, server.url(), body: body))
                #expect(server.requests.map(\.trailerLines) == [["X-One: 1", "X-Two: 2"]])
                #expect(server.requests.map(\.body) == [Data("Hello World".utf8)])
            }
        },
    ]

    // MARK: Together

    private static let (chunk, begin) = ("1\r\nA\r\n", "\(ok)\r\nTransfer-Encoding: chunked\r\n\r\n")

    /// Posts a stream to a script, and passes each chunk of the response to it; returns how many there were.
    private static func talk(
        _ transport: ContractTransport, _ steps: [Script.Step], beginning: Bool, until last: Int? = nil
    ) async throws -> Int {
        try await withServer(Script(steps)) { server async throws in
            let (chunks, producer) = AsyncStream<Data>.makeStream()
            if beginning { producer.yield(Data("A".utf8)) }
            let request = try transport.request(.post, server.url(), body: .stream(chunks))
            var count = 0
            for try await chunk in try await transport.transport.send(request).body {
                count += 1
                if count == last { producer.finish() } else { producer.yield(chunk) }
            }
            return count
        }
    }

    private static let together: [Behaviour] = [
        Behaviour("testEchoInterleave", "each chunk is answered before the next one", unless: .streamedUpload) {
            transport in
            let turns = Array(repeating: [Script.Step.readBody(chunk.utf8.count), .send(chunk)], count: 1_000)
            let steps = [.readHead, .send(begin)] + turns.flatMap(\.self) + [.readBody(5), .send("0\r\n\r\n")]
            let count = try await talk(transport, steps, beginning: true, until: 1_000)
            #expect(count == 1_000)
        },
        Behaviour("testSpeakInterleave", "the server speaks first, and ends first", unless: .streamedUpload) {
            transport in
            let turns = Array(repeating: [Script.Step.send(chunk), .readBody(chunk.utf8.count)], count: 100)
            let steps = [.readHead, .send(begin)] + turns.flatMap(\.self) + [.send("0\r\n\r\n"), .stall]
            let count = try await talk(transport, steps, beginning: false)
            #expect(count == 100)
        },
        Behaviour("testStressTest", "a hundred requests are under way together") { transport in
            try await withServer(.ok("x")) { server async throws in
                let texts = try await atOnce(100) { _ in try await transport.send(.get, server.url()).text }
                #expect(texts == Array(repeating: "x", count: 100))
            }
        },
        Behaviour("testCancelPreHeaders", "a cancellation ends the wait for a head") { transport in
            try await withServer(.stalled) { server async throws in
                let call = Task { try await transport.send(.get, server.url()) }
                try await server.wait { $0.requests.count == 1 }
                call.cancel()
                _ = await expectFailure(.cancelled) { try await call.value }
            }
        },
        Behaviour("testCancelPreBody", "a cancellation ends the wait for a body") { transport in
            try await withServer([.read, .send("\(ok)\r\nContent-Length: 1000\r\n\r\n1234"), .stall]) {
                server async throws in
                let response = try await transport.start(.get, server.url())
                let reading = Task { try await response.body.collect() }
                reading.cancel()
                _ = await expectFailure(.cancelled) { try await reading.value }
            }
        },
    ]

    static let all = framing + messages + bodies + together

    @Test(arguments: ContractTransport.all, all)
    func `a behaviour of the proposal is the transport's`(
        transport: ContractTransport, behaviour: Behaviour
    ) async throws {
        guard let exclusion = behaviour.exclusion(of: transport.kind) else {
            return try await behaviour.check(transport)
        }
        try await transport.run(exclusion.name) { try await behaviour.check(transport) }
    }

    @Test func `the article has the proposal's 39 behaviours with their outcomes`() throws {
        let article = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources/NetworkLayer/NetworkLayer.docc/TransportDifferences.md").standardized
        let lines = Set(try String(contentsOf: article, encoding: .utf8).split(separator: "\n").map(String.init))
        #expect(Set(Self.all.map(\.name)).count == 39)
        for behaviour in Self.all {
            let outcomes = ["curl", "urlsession"].map { kind in
                behaviour.exclusion(of: kind).map { "`\($0.name.rawValue)`" } ?? "yes"
            }
            let row = "| `\(behaviour.name)` | \(behaviour.summary) | \(outcomes.joined(separator: " | ")) |"
            #expect(lines.contains(row), "the article lacks: \(row)")
        }
    }
}
