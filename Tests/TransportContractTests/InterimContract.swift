import Foundation
import NetworkLayer
import NetworkTesting
import Synchronization
import TestSupport
import Testing

/// What comes before the final response, or instead of a request's body, and what follows that body.
@Suite(.patience(minutes: 1))
struct InterimContract {
    /// Heads in the order in which they were reported.
    private final class Heads: Sendable {
        private let heads = Guarded<[String]>([])

        var all: [String] { heads.withLock(\.self) }

        func report(_ head: HTTPResponse) {
            let fields = head.headerFields.map { "\($0.name.rawName)=\($0.value)" }
            heads.withLock { $0.append(([String(head.status.code)] + fields).joined(separator: " ")) }
        }
    }

    // MARK: Interim responses

    static let interim: [(text: String, heads: [String])] = [
        ("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nX: 1\r\n\r\n", ["103 Link=</a> X=1"]),
        ("HTTP/1.1 100 Continue\r\n\r\n", ["100"]),
        (
            "HTTP/1.1 103 x\r\nA: 1\r\n\r\nHTTP/1.1 104 Upload Resumption Supported\r\nLocation: /u\r\n\r\nHTTP/1.1 103 x\r\n\r\n",
            ["103 A=1", "104 Location=/u", "103"]
        ),
        ("", []),
    ]

    /// The final response is held back until they have been reported. Over a transport that reports none, the request
    /// is the same.
    @Test(arguments: ContractTransport.all, interim)
    func `interim responses are reported in order, before the final one`(
        transport: ContractTransport, way: (text: String, heads: [String])
    ) async throws {
        let heads = Heads()
        try await withServer([
            .read, .send(way.text), .send("HTTP/1.1 200 OK\r\nX-A: b\r\nContent-Length: 2\r\n\r\nok"), .close,
        ]) { server async throws in
            var data = RequestData(path: server.url())
            data.interimResponse = heads.report
            let response = try await transport.client.send(data, as: .text)
            #expect(response.body == "ok" && response.status == .ok)
            if way.heads.isEmpty { return #expect(heads.all == []) }
            try await transport.run(.interimResponses) { #expect(heads.all == way.heads) }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `an interim response is reported while the final one is awaited`(transport: ContractTransport) async throws {
        let reported = Gate()
        try await transport.run(.interimResponses) {
            try await withServer([
                .read, .send("HTTP/1.1 103 Early Hints\r\n\r\n"), .wait(until: reported),
                .send("HTTP/1.1 204 No Content\r\n\r\n"), .close,
            ]) { server async throws in
                var request = try transport.request(.get, server.url())
                if transport.kind == "urlsession" { request.options.totalTimeout = .seconds(1) }
                request.interimResponse = { _ in reported.open() }
                #expect(try await transport.transport.send(request).status == .noContent)
            }
        }
    }

    /// Each exchange of a call reports its own.
    @Test(arguments: ContractTransport.all)
    func `the interim responses of a redirect are reported too`(transport: ContractTransport) async throws {
        let heads = Heads()
        try await withServer([
            .read, .send("HTTP/1.1 103 x\r\nA: 1\r\n\r\nHTTP/1.1 302 x\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n"),
            .read, .send("HTTP/1.1 103 x\r\nA: 2\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .close,
        ]) { server async throws in
            var request = try transport.request(.get, server.url())
            request.interimResponse = heads.report
            _ = try await transport.client.send(request, as: .data)
            try await transport.run(.interimResponses) { #expect(heads.all == ["103 A=1", "103 A=2"]) }
        }
    }

    // MARK: Expectations

    private func post(
        _ transport: ContractTransport, to server: ScriptedServer, wait: Duration = .seconds(20),
        _ body: TransportRequest.Body = .bytes(Data("body".utf8)), _ method: HTTPRequest.Method = .post
    ) async throws -> ContractTransport.Answer {
        let response = try await transport.transport.send(
            transport.request(method, server.url(), body: body) { $0.expectContinue = wait })
        return ContractTransport.Answer(
            head: response.head, body: try await response.body.collect(), metrics: response.metrics)
    }

    /// The server reads nothing before it has sent the 100, and then finds the body alone.
    @Test(arguments: ContractTransport.all, [true, false])
    func `the body follows the server's 100`(transport: ContractTransport, isStreamed: Bool) async throws {
        try await transport.run(.expectContinue) {
            try await withServer([
                .readHead, .send("HTTP/1.1 100 Continue\r\n\r\n"), .readBody(4), .ok("yes"),
            ]) { server async throws in
                let body: TransportRequest.Body =
                    isStreamed ? .once([Data("body".utf8)], length: 4) : .bytes(Data("body".utf8))
                #expect(try await post(transport, to: server, body).text == "yes")
                #expect(server.requests.first?.values(of: "Expect") == ["100-continue"])
            }
        }
    }

    /// The wait is the option's, and not libcurl's second: within that, the server sends nothing.
    @Test(arguments: ContractTransport.all)
    func `the body follows when the time is over`(transport: ContractTransport) async throws {
        try await transport.run(.expectContinue) {
            for (wait, isLate) in [(Duration.milliseconds(50), false), (.seconds(2), true)] {
                let start = ContinuousClock.now
                try await withServer([.read, .ok("yes")]) { server async throws in
                    #expect(try await post(transport, to: server, wait: wait).text == "yes")
                    #expect(server.requests.map(\.body) == [Data("body".utf8)])
                }
                let time = start.duration(to: .now)
                #expect(isLate ? time >= wait : time >= wait && time < .seconds(1) * patienceFactor)
            }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a final response comes in place of the body`(transport: ContractTransport) async throws {
        try await transport.run(.expectContinue) {
            try await withServer([.readHead, .respond(413, "no"), .stall], .ok("second")) { server async throws in
                let answer = try await post(transport, to: server, .once([Data(count: 10)]))
                #expect(answer.status == 413 && answer.text == "no")
                #expect(try await transport.send(.get, server.url()).text == "second")
                #expect(server.connectionCount == 2)
            }
        }
    }

    @Test(arguments: ContractTransport.all, [HTTPRequest.Method.post, .put])
    func `after a refusal the request goes out without the field, once`(
        transport: ContractTransport, method: HTTPRequest.Method
    ) async throws {
        try await transport.run(.expectContinue) {
            try await withServer([.readHead, .respond(417), .stall], .ok("yes")) { server async throws in
                let answer = try await post(transport, to: server, .bytes(Data("body".utf8)), method)
                #expect(answer.text == "yes" && answer.metrics.resends == 1)
                #expect(server.requests.map { $0.values(of: "Expect") } == [["100-continue"], []])
                #expect(server.requests.last?.body == Data("body".utf8))
            }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a request without a body expects nothing`(transport: ContractTransport) async throws {
        try await transport.run(.expectContinue) {
            try await withServer(.ok("x")) { server async throws in
                for (method, body) in [(HTTPRequest.Method.get, nil), (.post, nil), (.post, Data())] as [(_, Data?)] {
                    let response = try await transport.send(method, server.url(), body: body) {
                        $0.expectContinue = .seconds(20)
                    }
                    #expect(response.text == "x")
                }
                #expect(server.requests.allSatisfy { $0.values(of: "Expect").isEmpty })
            }
        }
    }

    // MARK: Trailer fields of requests

    private struct Fault: Error, Equatable {}

    @Test(arguments: ContractTransport.all, [[], ["Hello", " ", "World"]])
    func `trailer fields follow a streamed body`(transport: ContractTransport, chunks: [String]) async throws {
        try await transport.run(.requestTrailers) {
            try await withServer(.ok("yes")) { server async throws in
                let checksum = Guarded(0)
                let content = RequestContent.stream(
                    AsyncStream<Data> { stream in
                        for chunk in chunks { stream.yield(Data(chunk.utf8)) }
                        checksum.withLock { $0 = chunks.joined().utf8.count }
                        stream.finish()
                    }, length: chunks.joined().utf8.count, contentType: nil)
                let data = RequestData(
                    path: server.url(), method: .post,
                    content: content.followed(byTrailers: {
                        [.init("X-Count")!: "\(checksum.withLock(\.self))", .init("X-Empty")!: ""]
                    }), headerFields: ["Trailer": "X-Count, X-Empty"])
                #expect(try await transport.client.send(data, as: .text).body == "yes")
                let request = try #require(server.requests.first)
                #expect(request.body == Data(chunks.joined().utf8))
                #expect(request.trailerLines == ["X-Count: \(chunks.joined().utf8.count)", "X-Empty: "])
                #expect(request.values(of: "Transfer-Encoding") == ["chunked"])
            }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `trailer fields follow bytes, compressed ones, and those of a repeat`(
        transport: ContractTransport
    ) async throws {
        try await transport.run(.requestTrailers) {
            try await withServer([.forEachRequest([.respond(503, "no")])], [.forEachRequest([.ok("yes")])]) {
                server async throws in
                let count = Guarded(0)
                let body = TransportRequest.Body.bytes(Data("body".utf8)).reportingProgress { _ in }.followed {
                    [.init("X-Round")!: "\(count.withLock { $0 += 1; return $0 })"]
                }
                var request = try transport.request(.put, server.url(), body: body)
                for compression in [TransportOptions.RequestCompression.none, .gzip] {
                    request.options.requestCompression = compression
                    _ = try await transport.transport.send(request).body.collect()
                }
                #expect(server.requests.map(\.trailerLines) == [["X-Round: 1"], ["X-Round: 2"]])
                #expect(server.requests.map { $0.body == Data("body".utf8) } == [true, false])
            }
        }
    }

    /// Found when the body has gone out, which the last chunk does not end.
    @Test(arguments: ContractTransport.all, ["Content-Length", "authorization", "If-Match", "X-Long", ""])
    func `wrong trailer fields fail the exchange by name`(transport: ContractTransport, name: String) async throws {
        try await transport.run(.requestTrailers) {
            try await withServer([.read, .ok("yes")]) { server async throws in
                let body = TransportRequest.Body.once([Data("body".utf8)]).followed {
                    guard let field = HTTPField.Name(name) else { throw Fault() }
                    return [field: name == "X-Long" ? String(repeating: "x", count: 70_000) : "1"]
                }
                let request = try transport.request(.post, server.url(), body: body)
                do {
                    _ = try await transport.client.send(request, as: .text)
                    Issue.record("the body ended as if it were whole")
                } catch let error as NetworkError where error.code == .invalidHeaderField {
                    #expect(error.message.contains("'\(name)'") && !name.isEmpty, "\(error)")
                } catch is Fault {
                    #expect(name.isEmpty)
                }
                try await server.wait { $0.endedConnectionCount == 1 }
                #expect(server.requests.isEmpty)
            }
        }
    }

    @Test(
        arguments: ContractTransport.all, [TransportOptions.HTTPVersion.http1_0, .http2, .http2PriorKnowledge, .http3])
    func `trailer fields over a version that has none are refused`(
        transport: ContractTransport, version: TransportOptions.HTTPVersion
    ) async throws {
        let body = TransportRequest.Body.bytes(Data("body".utf8)).followed { [:] }
        try await withServer(.ok("x")) { server async throws in
            let request = try transport.request(.post, server.url(), body: body) { $0.httpVersion = version }
            await expectFailure(.unsupported) { try await transport.client.send(request, as: .text) }
            #expect(server.connectionCount == 0)
        }
    }
}
