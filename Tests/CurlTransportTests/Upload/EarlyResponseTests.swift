import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

/// Responses that arrive while the request's body goes out.
@Suite("Responses before the body", .patience(minutes: 1))
struct EarlyResponseTests {
    private let dispatcher = CurlNetworkDispatcher()

    /// Responses that a released or an empty one's reader does not wait for.
    private static let responses = [
        "202 Accepted\r\nContent-Length: 0\r\n\r\n", "204 No Content\r\n\r\n",
        "200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nearly\r\n",
    ]

    @Test func `an early response ends the upload`() async throws {
        let refusal = Script.Step.respond(413, "no", fields: [("Connection", "close")])
        try await withServer([.readHead, refusal, .stall]) { server in
            let body = TransportRequest.Body.replayableStream { AsyncStream<Data>(unfolding: { Data(count: 65_536) }) }
            for _ in 0..<20 {
                let exchange = try await Exchange(server.url(), over: dispatcher, body: body)
                #expect(exchange.status == 413 && exchange.text == "no")
            }
        }
    }

    /// Regression: libcurl ends a transfer when both bodies have ended, so a stream that ended with the response never
    /// ended.
    @Test(arguments: ["hello", ""])
    func `the response ends where its length says, while a body is streamed`(text: String) async throws {
        try await withServer([.readHead, .ok(text), .stall]) { server in
            let (chunks, producer) = AsyncStream<Data>.makeStream()
            producer.yield(Data("first".utf8))
            let response = try await dispatcher.start(server.url(), body: .stream(chunks))
            var seen = Data()
            for try await chunk in response.body { seen += chunk }
            #expect(seen == Data(text.utf8))
            producer.finish()
        }
    }

    /// A response that is whole before the server has taken the request's body is the response.
    @Test(arguments: [true, false], [true, false])
    func `a whole response is delivered while the body is stuck`(isStreamed: Bool, isCollected: Bool) async throws {
        // Nothing reads the request's body, so the upload can't end.
        let gate = Gate()
        try await withServer([.readHead, .ok("early"), .wait(until: gate)], .ok("second")) { server in
            let bytes = Data(count: 20_000_000)
            let response = try await dispatcher.start(
                server.url(), body: isStreamed ? .replayable([bytes]) : .bytes(bytes))
            var body = Data()
            if isCollected {
                body = try await response.body.collect()
            } else {
                for try await chunk in response.body { body += chunk }
            }
            #expect(body == Data("early".utf8))
            #expect(try await Exchange(server.url(), over: dispatcher).text == "second")
            gate.open()
        }
    }

    /// A server may respond first and read then.
    @Test func `the rest of a body is sent after a whole response`() async throws {
        let bytes = Data(count: 20_000_000)
        try await expectRest(of: bytes.count, after: "200 OK\r\nContent-Length: 5\r\n\r\nearly") {
            server async throws in
            #expect(try await Exchange(server.url(), over: dispatcher, body: .bytes(bytes)).text == "early")
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
    @Test(arguments: responses, [true, false])
    func `the rest of a body is sent after any early response`(response: String, isStreamed: Bool) async throws {
        // In one piece, since the rest has a second, and other tests need the cores meanwhile.
        let bytes = Data(count: 300_000)
        try await expectRest(of: bytes.count, after: response) { server in
            _ = try await dispatcher.start(
                server.url(), .put,
                body: isStreamed ? .replayable([bytes], length: bytes.count) : .bytes(bytes))
            return nil
        }
    }

    /// The producer may end after the response has arrived; the last bytes wait for its end.
    @Test(arguments: responses, [true, false])
    func `the rest of a body is sent whose producer ends after the response`(
        response: String, hasLength: Bool
    ) async throws {
        let bytes = Data(count: 300_000)
        try await expectRest(of: bytes.count, after: response) { server in
            let (chunks, producer) = AsyncStream<Data>.makeStream()
            producer.yield(bytes)
            let early = try await dispatcher.start(
                server.url(), .put, body: .stream(chunks, length: hasLength ? bytes.count : nil))
            producer.finish()
            return early
        }
    }

    /// Returns a body without an end, and a gate that opens when its reading ends.
    private func endless() -> (body: TransportRequest.Body, ended: Gate) {
        let ended = Gate()
        let chunks = AsyncStream<Data> { stream in
            stream.yield(Data(count: 1_000))
            stream.onTermination = { _ in ended.open() }
        }
        return (.stream(chunks), ended)
    }

    /// Regression: the response of such a request was read for a second, however much came: more than a gigabyte.
    @Test func `of a released response without a length at most 64 KiB are read`() async throws {
        let chunk = Data("186a0\r\n".utf8) + Data(repeating: 120, count: 100_000) + Data("\r\n".utf8)
        var shortest = Duration.seconds(60)
        // Any attempt may wait for a core; the second is over in each of them if nothing else ends it.
        for _ in 0..<20 where shortest > .milliseconds(900) {
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            try await withServer([.readHead, .send(head), .flood(chunk)]) { server in
                let (body, ended) = endless()
                let start = ContinuousClock.now
                _ = try await dispatcher.start(server.url(), .put, body: body)
                try await ended.wait()
                shortest = min(shortest, start.duration(to: .now))
            }
        }
        #expect(shortest < .milliseconds(900))
    }

    /// Regression: only the release of the response ended the upload.
    @Test func `after a whole early response an upload ends, whether the response is held or not`() async throws {
        try await withServer([.readHead, .ok("early"), .stall]) { server in
            let (body, ended) = endless()
            let response = try await dispatcher.start(server.url(), .put, body: body)
            for try await _ in response.body {}
            try await ended.wait()
            #expect(response.status == .ok)
        }
    }

    /// Only the response to the round that asks for a challenge is held back. The next round's head is delivered at
    /// once.
    @Test func `the head of a later round is handed out at once`() async throws {
        let gate = Gate()
        let digest = [("WWW-Authenticate", #"Digest realm="r", nonce="n", qop="auth""#)]
        try await withServer([
            .read, .respond(401, fields: digest), .read, .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"),
            .wait(until: gate), .send("late"), .stall,
        ]) { server in
            let response = try await dispatcher.start(server.url(), .post) {
                $0.authentication = .digest(user: "u", password: "p")
            }
            gate.open()
            #expect(try await response.body.collect() == Data("late".utf8))
        }
    }
}
