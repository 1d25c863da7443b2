import Foundation
import HTTPTypes
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

/// Responses that arrive while the request's body waits for them (`Expect: 100-continue`, RFC 9110 §10.1.1). The server
/// may take the next request on their connection for the body.
@Suite("Responses before the body", .patience(minutes: 1))
struct EarlyResponseTests {
    private let dispatcher = CurlNetworkDispatcher()

    enum Body: CaseIterable { case small, large, known, unknown }

    private func body(_ kind: Body) -> TransportRequest.Body {
        let bytes = Data(repeating: 120, count: kind == .large ? 100_000 : 3_000)
        return switch kind {
        case .small, .large: .bytes(bytes)
        case .known: .replayableStream(length: bytes.count) { Self.chunks([bytes]) }
        case .unknown: .replayableStream { Self.chunks([bytes]) }
        }
    }

    private static func chunks(_ chunks: [Data]) -> AsyncStream<Data> {
        AsyncStream { stream in
            for chunk in chunks { stream.yield(chunk) }
            stream.finish()
        }
    }

    private func send(_ server: ScriptedServer, _ body: TransportRequest.Body?) async throws -> (
        status: Int, text: String
    ) {
        var request = TransportRequest(
            method: body == nil ? .get : .post, url: try RequestURL(server.url()), body: body)
        if body != nil { request.headerFields[.expect] = "100-continue" }
        request.options.totalTimeout = .seconds(30)
        let response = try await dispatcher.send(request)
        let text = String(decoding: try await response.body.collect(), as: UTF8.self)
        return (response.status.code, text)
    }

    @Test(
        arguments: Body.allCases,
        [
            "200 OK\r\nContent-Length: 5\r\n\r\nearly", "204 No Content\r\n\r\n",
            "201 Created\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nearly\r\n0\r\n\r\n",
            "403 Forbidden\r\nContent-Length: 5\r\n\r\nearly",
        ])
    func `the connection of an early response carries no other request`(kind: Body, response: String) async throws {
        let (server, first) = try await ScriptedServer.prompt(
            [.readHead, .send("HTTP/1.1 \(response)"), .stall], .ok("second")
        ) { try await send($0, body(kind)) }
        defer { server.stop() }
        #expect("\(first.status)" == response.prefix(3))
        #expect(first.text == (response.contains("early") ? "early" : ""))
        #expect(try await send(server, nil).text == "second")
        #expect(server.connectionCount == 2)
    }

    /// A response that is whole before the server has taken the request's body is the response.
    @Test(arguments: [true, false], [true, false])
    func `a whole response is delivered while the body is stuck`(isStreamed: Bool, isCollected: Bool) async throws {
        // Nothing reads the request's body, so the upload can't end.
        let gate = Gate()
        let early = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nearly"
        try await withServer([.readHead, .send(early), .wait(until: gate)], .ok("second")) { server in
            let bytes = Data(count: 20_000_000)
            var request = TransportRequest(method: .post, url: try RequestURL(server.url()))
            request.body = isStreamed ? .replayableStream { Self.chunks([bytes]) } : .bytes(bytes)
            request.options.totalTimeout = .seconds(30)
            let response = try await dispatcher.send(request)
            var body = Data()
            if isCollected {
                body = try await response.body.collect()
            } else {
                for try await chunk in response.body { body += chunk }
            }
            #expect(body == Data("early".utf8))
            #expect(try await send(server, nil).text == "second")
            gate.open()
        }
    }

    /// A server may respond first and read then.
    @Test func `the rest of a body is sent after a whole response`() async throws {
        let bytes = Data(count: 20_000_000)
        try await expectRest(of: bytes.count, after: "200 OK\r\nContent-Length: 5\r\n\r\nearly") { server in
            var request = TransportRequest(method: .post, url: try RequestURL(server.url()))
            request.body = .bytes(bytes)
            request.options.totalTimeout = .seconds(30)
            #expect(try await dispatcher.send(request).body.collect() == Data("early".utf8))
            return nil
        }
    }

    /// Expects that a request's body arrives whole after an early response, whose end leaves it a second. An attempt
    /// that took as long is repeated: it may have waited for a core.
    /// - Parameter send: Sends the request, and returns the response if that is to be held.
    private func expectRest(
        of count: Int, after response: String, _ send: (ScriptedServer) async throws -> TransportResponse?
    ) async throws {
        for attempt in 1...5 {
            let (sent, start) = (Gate(), ContinuousClock.now)
            // The connection ends after the body, or where the body is cut.
            let server = try ScriptedServer([
                .readHead, .send("HTTP/1.1 \(response)"), .readBody(count), .open(sent),
            ])
            defer { server.stop() }
            let held = try await send(server)
            try await server.wait { $0.endedConnectionCount >= 1 }
            withExtendedLifetime(held) {}
            let mayBeLate = !sent.isOpen && start.duration(to: .now) >= .seconds(1)
            if mayBeLate, attempt < 5 { continue }
            #expect(sent.isOpen, "the body was cut")
            return
        }
    }

    /// Regression: with an empty response, or one of unknown length that is released, the request's body was cut at
    /// once.
    @Test(
        arguments: [
            "202 Accepted\r\nContent-Length: 0\r\n\r\n", "204 No Content\r\n\r\n",
            "200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nearly\r\n",
        ], [true, false])
    func `the rest of a body is sent after any early response`(response: String, isStreamed: Bool) async throws {
        // In one piece, since the rest has a second, and other tests need the cores meanwhile.
        let bytes = Data(count: 300_000)
        try await expectRest(of: bytes.count, after: response) { server in
            var request = TransportRequest(method: .put, url: try RequestURL(server.url()))
            request.body =
                isStreamed ? .replayableStream(length: bytes.count) { Self.chunks([bytes]) } : .bytes(bytes)
            request.options.totalTimeout = .seconds(30)
            _ = try await dispatcher.send(request)
            return nil
        }
    }

    /// The producer may end after the response has arrived; the last bytes wait for its end.
    @Test(
        arguments: [
            "202 Accepted\r\nContent-Length: 0\r\n\r\n", "204 No Content\r\n\r\n",
            "200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nearly\r\n",
        ], [true, false])
    func `the rest of a body is sent whose producer ends after the response`(
        response: String, hasLength: Bool
    ) async throws {
        let bytes = Data(count: 300_000)
        try await expectRest(of: bytes.count, after: response) { server in
            let (chunks, producer) = AsyncStream<Data>.makeStream()
            producer.yield(bytes)
            var request = TransportRequest(method: .put, url: try RequestURL(server.url()))
            request.body = .stream(chunks, length: hasLength ? bytes.count : nil)
            request.options.totalTimeout = .seconds(30)
            let early = try await dispatcher.send(request)
            producer.finish()
            return early
        }
    }

    /// Regression: the response of such a request was read for a second, however much came: more than a gigabyte.
    @Test func `of a released response without a length at most 64 KiB are read`() async throws {
        let chunk = Data("186a0\r\n".utf8) + Data(repeating: 120, count: 100_000) + Data("\r\n".utf8)
        var shortest = Duration.seconds(60)
        // Any attempt may wait for a core; the second is over in each of them if nothing else ends it.
        for _ in 0..<20 where shortest > .milliseconds(900) {
            let ended = Gate()
            let server = try ScriptedServer([
                .readHead, .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), .flood(chunk),
            ])
            defer { server.stop() }
            var request = TransportRequest(method: .put, url: try RequestURL(server.url()))
            request.body = .stream(
                AsyncStream { stream in
                    stream.yield(Data(count: 1_000))
                    stream.onTermination = { _ in ended.open() }
                })
            request.options.totalTimeout = .seconds(30)
            let start = ContinuousClock.now
            _ = try await dispatcher.send(request)
            try await ended.wait()
            shortest = min(shortest, start.duration(to: .now))
        }
        #expect(shortest < .milliseconds(900))
    }

    /// Regression: only the release of the response ended the upload.
    @Test func `after a whole early response an upload ends, whether the response is held or not`() async throws {
        let ended = Gate()
        try await withServer([
            .readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nearly"), .stall,
        ]) { server in
            var request = TransportRequest(method: .put, url: try RequestURL(server.url()))
            // An upload without an end.
            request.body = .stream(
                AsyncStream { stream in
                    stream.yield(Data(count: 1_000))
                    stream.onTermination = { _ in ended.open() }
                })
            let response = try await dispatcher.send(request)
            for try await _ in response.body {}
            try await ended.wait()
            #expect(response.status == .ok)
        }
    }

    /// The request goes out again, without the expectation and over another connection.
    @Test(
        arguments: Body.allCases,
        [
            "HTTP/1.1 417 No\r\nContent-Length: 3\r\n\r\nno!", "HTTP/1.0 417 No\r\nContent-Length: 3\r\n\r\nno!",
            "HTTP/1.1 417 No\r\nConnection: close\r\nContent-Length: 3\r\n\r\nno!",
            "HTTP/1.1 417 No\r\nContent-Length: 0\r\n\r\n",
        ])
    func `a refused expectation is left out`(kind: Body, refusal: String) async throws {
        let (server, response) = try await ScriptedServer.prompt(
            [.readHead, .send(refusal), .stall], .ok("taken")
        ) { try await send($0, body(kind)) }
        defer { server.stop() }
        #expect(response.status == 200 && response.text == "taken")
        let last = try #require(server.requests.last)
        #expect(last.values(of: "Expect") == [])
        #expect(last.body.count == (kind == .large ? 100_000 : 3_000))
        #expect(server.connectionCount == 2)
    }

    /// A 417 response to a request without an expectation is the final response, complete with its body.
    @Test(arguments: Body.allCases)
    func `a refusal of an expectation that was not sent is the response`(kind: Body) async throws {
        let refusal = "HTTP/1.1 417 No\r\nContent-Length: 3\r\n\r\nno!"
        let (server, response) = try await ScriptedServer.prompt(
            [.readHead, .send(refusal), .stall], [.read, .send(refusal), .stall]
        ) { try await send($0, body(kind)) }
        defer { server.stop() }
        #expect(response.status == 417 && response.text == "no!")
        #expect(server.connectionCount == 2)
    }

    private static let digest = #"Digest realm="r", nonce="n", qop="auth""#

    /// Only the response to the round that asks for a challenge is held back. The next round's head is delivered at
    /// once.
    @Test
    func `the head of a later round is handed out at once`() async throws {
        let gate = Gate()
        let challenge = Script.head(401, fields: [("WWW-Authenticate", Self.digest), ("Content-Length", "0")])
        try await withServer([
            .read, .send(challenge), .read, .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"), .wait(until: gate),
            .send("late"), .stall,
        ]) { server in
            var request = TransportRequest(method: .post, url: try RequestURL(server.url()))
            request.options.authentication = .digest(user: "u", password: "p")
            request.options.totalTimeout = .seconds(30)
            let response = try await dispatcher.send(request)
            gate.open()
            #expect(try await response.body.collect() == Data("late".utf8))
        }
    }

    /// The new connection after a refused expectation is checked as any other is: bytes that wait on it are no
    /// response.
    @Test
    func `after a refused expectation, the new connection is looked at`() async throws {
        // The new socket often, but not always, gets the closed one's number.
        for _ in 0..<10 {
            let (gate, sent) = (Gate(), Gate())
            let forged = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"
            let (server, response) = try await ScriptedServer.prompt(
                [.readHead, .send("HTTP/1.1 417 No\r\nContent-Length: 0\r\n\r\n"), .stall],
                [
                    .read, .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\ntaken"), .wait(until: gate),
                    .send(forged),
                    .open(sent), .stall,
                ], .ok("honest")
            ) { try await send($0, body(.small)) }
            defer { server.stop() }
            #expect(response.text == "taken")
            gate.open()
            try await sent.wait()
            #expect(try await send(server, nil).text == "honest")
        }
    }

    /// Regression: libcurl held back the next request's body on a connection that had only carried a request for a
    /// challenge.
    @Test func `after a refused expectation and a refusal, the next body goes out`() async throws {
        let (server, status) = try await ScriptedServer.prompt(
            [.readHead, .send("HTTP/1.1 417 No\r\nContent-Length: 0\r\n\r\n"), .stall],
            [
                .read, .send("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n"),
                .forEachRequest([.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")]),
            ], .ok()
        ) { server in
            var request = TransportRequest(method: .post, url: try RequestURL(server.url()), body: body(.small))
            request.headerFields[.expect] = "100-continue"
            request.options.authentication = .digest(user: "u", password: "p")
            request.options.totalTimeout = .seconds(30)
            let refused = try await dispatcher.send(request)
            _ = try await refused.body.collect()
            return refused.status.code
        }
        defer { server.stop() }
        #expect(status == 403)
        var plain = TransportRequest(method: .post, url: try RequestURL(server.url()), body: body(.small))
        plain.options.totalTimeout = .seconds(30)
        _ = try await dispatcher.send(plain).body.collect()
        #expect(server.requests.last?.body.count == 3_000)
    }
}

extension ScriptedServer {
    /// Returns a server, and the result of an exchange with it in which the server was prompt: libcurl sends a body
    /// that waits for `100 Continue` after a second. Any attempt may wait for a core; the last one counts as it is.
    static func prompt<Value>(
        _ scripts: Script..., exchange: (ScriptedServer) async throws -> Value
    ) async throws -> (server: ScriptedServer, value: Value) {
        var tries = 5
        while true {
            let server = try ScriptedServer(scripts: scripts)
            let start = ContinuousClock.now
            let outcome: Result<Value, any Error>
            do { outcome = .success(try await exchange(server)) } catch { outcome = .failure(error) }
            tries -= 1
            if tries == 0 || start.duration(to: .now) < .seconds(1) { return (server, try outcome.get()) }
            server.stop()
        }
    }
}
