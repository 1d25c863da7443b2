import Foundation
import HTTPTypes
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

/// Checks that no state of earlier requests reaches a later one.
@Suite("No state of a request remains", .patience(minutes: 1))
struct NothingRemainsTests {
    private let dispatcher = CurlNetworkDispatcher()

    private func code(_ body: () async throws -> Void) async -> NetworkError.Code? {
        do {
            try await body()
            return nil
        } catch { return (error as? NetworkError)?.code }
    }

    /// Regression: heap corruption with libcurl 7.84 to 8.0, whose handles keep a pointer to the last header line of
    /// the previous transfer.
    @Test(arguments: ["\tX: y", " folded"])
    func `a first field that begins with a blank touches nothing of the response before`(line: String) async throws {
        let good = try ScriptedServer(.ok("good", fields: [("X-Long", String(repeating: "x", count: 2_000))]))
        let bad = try ScriptedServer(.raw("HTTP/1.1 200 OK\r\n\(line)\r\n\r\n"))
        defer {
            good.stop()
            bad.stop()
        }
        for _ in 0..<20 {
            _ = try await OptionExchange(good.url(), over: dispatcher)
            _ = await code { _ = try await OptionExchange(bad.url(), over: dispatcher) }
        }
        #expect(try await OptionExchange(good.url(), over: dispatcher).text == "good")
    }

    /// Regression: libcurl keeps the list of addresses until the transfer starts. The list was freed before that, and
    /// the handle's next transfer read it.
    @Test func `addresses of a request that never started serve no other`() async throws {
        let gate = Gate()
        let server = try ScriptedServer([
            .read, .wait(until: gate), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        ])
        let plain = try ScriptedServer(.ok("plain"))
        defer {
            server.stop()
            plain.stop()
        }
        var configuration = CurlNetworkDispatcher.Configuration()
        configuration.maximumConnections = 1
        let dispatcher = CurlNetworkDispatcher(configuration: configuration)
        let holding = Task { try await OptionExchange(server.url(), over: dispatcher) }
        try await server.wait { $0.requests.count == 1 }
        for _ in 0..<8 {
            let outcome = await code {
                _ = try await OptionExchange("http://static.example:\(plain.port)/", over: dispatcher) {
                    $0.names.addresses = [
                        .init("static.example", port: Int(plain.port), ["127.0.0.1"])
                    ]
                    $0.totalTimeout = .milliseconds(1)
                }
            }
            #expect(outcome == .totalTimeout)
        }
        gate.open()
        _ = try await holding.value
        for _ in 0..<8 { #expect(try await OptionExchange(plain.url(), over: dispatcher).text == "plain") }
    }

    /// A streamed body without a length fails at an HTTP/1.0 peer after its header lines have been built, credentials
    /// among them.
    @Test func `credentials of a failed upload serve no other request`() async throws {
        let challenge =
            "HTTP/1.0 401 No\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n"
            + "Content-Length: 0\r\n\r\n"
        let old = try ScriptedServer(.raw(challenge))
        let other = try ScriptedServer(.ok("other"))
        defer {
            old.stop()
            other.stop()
        }
        for _ in 0..<4 {
            var request = TransportRequest(method: .put, url: try RequestURL(old.url()))
            request.body = .stream(
                AsyncStream<Data> { stream in
                    stream.yield(Data("x".utf8))
                    stream.finish()
                })
            request.options.authentication = .digest(user: "alice", password: "wonderland")
            request.options.totalTimeout = .seconds(30)
            let failing = request
            _ = await code { _ = try await dispatcher.send(failing).body.collect() }
            _ = try await OptionExchange(other.url(), over: dispatcher)
        }
        #expect(other.requests.count == 4)
        for request in other.requests { #expect(request.values(of: "Authorization").isEmpty) }
    }

    /// Regression: a second response, sent after the first was read, became the response to the next request. A server
    /// that is out of step with its requests would give one user's response to another.
    @Test
    func `a response without a request is not the next request's`() async throws {
        let (isRead, isForged) = (Gate(), Gate())
        let forged = Script([
            .read, .send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nown"), .wait(until: isRead),
            .send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"), .open(isForged), .stall,
        ])
        try await withServer(forged, .ok("own")) { server in
            #expect(try await OptionExchange(server.url(), over: dispatcher).text == "own")
            isRead.open()
            try await isForged.wait()
            for method in [HTTPRequest.Method.get, .post] {
                var request = TransportRequest(method: method, url: try RequestURL(server.url()))
                request.options.totalTimeout = .seconds(30)
                let response = try await dispatcher.send(request)
                #expect(try await response.body.collect() == Data("own".utf8))
            }
            #expect(server.connectionCount == 2)
        }
    }

    /// Regression: libcurl below 8.7 requested a Digest challenge without the body, and recorded that with the
    /// connection. Where the response was neither a challenge nor a success, the next request's body was held back too.
    @Test(arguments: [HTTPRequest.Method.post, .put])
    func `a body that was held back is no other request's`(method: HTTPRequest.Method) async throws {
        try await withServer(.response(503)) { server in
            func send(_ text: String, _ method: HTTPRequest.Method, isNamed: Bool) async throws {
                var request = TransportRequest(
                    method: method, url: try RequestURL(server.url()), body: .bytes(Data(text.utf8)))
                request.options.totalTimeout = .seconds(30)
                if isNamed { request.options.authentication = .digest(user: "alice", password: "wonderland") }
                let response = try await dispatcher.send(request)
                #expect(response.head.status.code == 503)
                _ = try await response.body.collect()
            }
            for round in 0..<3 {
                try await send("held back", .post, isNamed: true)
                try await send("body \(round)", method, isNamed: false)
                #expect(server.requests.last?.body == Data("body \(round)".utf8))
            }
            try await send("body 3", method, isNamed: false)
            #expect(server.requests.last?.body == Data("body 3".utf8))
        }
    }
}
