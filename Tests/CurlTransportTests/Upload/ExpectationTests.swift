import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

/// Requests that expect `100 Continue` (RFC 9110 §10.1.1), and the refusal of that (417).
@Suite("Expectations", .patience(minutes: 1))
struct ExpectationTests {
    private let dispatcher = CurlNetworkDispatcher()
    private static let expecting: HTTPFields = [.expect: "100-continue"]
    static let refusal = Script.Step.respond(417)

    /// Regression: libcurl sends the request again, and the caller got the first response's head with the second one's
    /// body.
    @Test(arguments: [10, 1_000_000])
    func `a refused expectation is not the response`(size: Int) async throws {
        // libcurl 8.23 uses another connection if the head arrives apart from the body.
        let (server, exchange) = try await ScriptedServer.prompt(
            [.readHead, .respond(417, "no"), .read, .ok("yes")], [.read, .ok("yes")]
        ) { try await Exchange($0.url(), body: .bytes(Data(count: size)), fields: Self.expecting) }
        defer { server.stop() }
        #expect(exchange.status == 200 && exchange.text == "yes")
    }

    /// Regression: a POST of which the server had part of the body was sent again as a whole.
    @Test(arguments: [(HTTPRequest.Method.post, false), (.post, true), (.put, false)], [true, false])
    func `a refusal within the body repeats only what may be repeated`(
        method: (HTTPRequest.Method, Bool), isStreamed: Bool
    ) async throws {
        try await withServer([.readHead, .readBody(100_000), Self.refusal, .stall], [.read, .ok("yes")]) { server in
            let chunks = [Data](repeating: Data(count: 100_000), count: 80)
            let body: TransportRequest.Body =
                isStreamed ? .replayable(chunks, length: 8_000_000) : .bytes(Data(count: 8_000_000))
            do {
                let exchange = try await Exchange(server.url(), method.0, body: body, fields: Self.expecting) {
                    $0.connection.repeatsAnyMethod = method.1
                }
                #expect(method != (.post, false) && exchange.status == 200 && exchange.text == "yes")
            } catch let error as NetworkError {
                #expect(method == (.post, false) && error.code == .connectionLost, "\(error)")
                #expect(error.message.contains("(417)") && error.message.contains("connection.repeatsAnyMethod"))
                #expect(server.connectionCount == 1)
            }
        }
    }

    @Test func `after a refused expectation, the first byte's clock starts anew`() async throws {
        // Again where a core came so late that libcurl, which waits for a second, had sent the body before the refusal.
        func exchange(
            then rest: Script, firstByteTimeout: Duration?
        ) async throws -> (outcome: Result<Exchange, any Error>, time: Duration) {
            var tries = 5
            while true {
                let server = try ScriptedServer(
                    [.readHead, .pause(.milliseconds(600)), Self.refusal, .stall], rest)
                defer { server.stop() }
                let start = ContinuousClock.now
                let outcome: Result<Exchange, any Error>
                do {
                    outcome = .success(
                        try await Exchange(
                            server.url(), .put, body: .bytes(Data(count: 10)), fields: Self.expecting
                        ) { $0.firstByteTimeout = firstByteTimeout })
                } catch {
                    outcome = .failure(error)
                }
                let time = start.duration(to: .now)
                tries -= 1
                if tries == 0 || server.requests.count == 2 || time < .seconds(1) { return (outcome, time) }
            }
        }
        let silent = try await exchange(then: [.read, .stall], firstByteTimeout: .seconds(3))
        expectFailure(.firstByteTimeout) { try silent.outcome.get() }
        #expect(silent.time >= .milliseconds(3_600))
        let answered = try await exchange(then: [.read, .ok("yes")], firstByteTimeout: nil).outcome.get()
        #expect(answered.text == "yes")
        #expect(try #require(answered.metrics.firstByte) >= .milliseconds(600))
    }

    /// The 417 is the final response if the body has already been sent.
    @Test(arguments: [
        TransportRequest.Body.bytes(Data(count: 10)), .once([Data(count: 10)], length: 10),
        .once([Data(count: 10)]),
    ])
    func `a refusal after the body is the response`(body: TransportRequest.Body) async throws {
        // libcurl sends the body when nothing arrives for a second.
        try await withServer(.response(417, body: Data("no".utf8))) { server in
            let exchange = try await Exchange(server.url(), body: body, fields: Self.expecting)
            #expect(exchange.status == 417 && exchange.text == "no")
        }
    }

    enum Body: CaseIterable {
        case small, large, known, unknown

        var size: Int { self == .large ? 100_000 : 3_000 }

        var made: TransportRequest.Body {
            let bytes = Data(repeating: 120, count: size)
            return switch self {
            case .small, .large: .bytes(bytes)
            case .known: .replayable([bytes], length: bytes.count)
            case .unknown: .replayable([bytes])
            }
        }
    }

    private func post(_ kind: Body, to server: ScriptedServer) async throws -> Exchange {
        try await Exchange(server.url(), over: dispatcher, body: kind.made, fields: Self.expecting)
    }

    /// The server may take the next request on the connection for the body that it does not get.
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
        ) { try await post(kind, to: $0) }
        defer { server.stop() }
        #expect("\(first.status)" == response.prefix(3))
        #expect(first.text == (response.contains("early") ? "early" : ""))
        #expect(try await Exchange(server.url(), over: dispatcher).text == "second")
        #expect(server.connectionCount == 2)
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
        let (server, exchange) = try await ScriptedServer.prompt(
            [.readHead, .send(refusal), .stall], .ok("taken")
        ) { try await post(kind, to: $0) }
        defer { server.stop() }
        #expect(exchange.status == 200 && exchange.text == "taken")
        #expect(server.requests.last?.values(of: "Expect") == [])
        #expect(server.requests.last?.body.count == kind.size)
        #expect(server.connectionCount == 2)
    }

    /// A 417 response to a request without an expectation is the final response, complete with its body.
    @Test(arguments: Body.allCases)
    func `a refusal of an expectation that was not sent is the response`(kind: Body) async throws {
        let (server, exchange) = try await ScriptedServer.prompt(
            [.readHead, .respond(417, "no!"), .stall], [.read, .respond(417, "no!"), .stall]
        ) { try await post(kind, to: $0) }
        defer { server.stop() }
        #expect(exchange.status == 417 && exchange.text == "no!")
        #expect(server.connectionCount == 2)
    }

    /// The new connection after a refused expectation is checked as any other is: bytes that wait on it are no
    /// response.
    @Test func `after a refused expectation, the new connection is looked at`() async throws {
        // The new socket often, but not always, gets the closed one's number.
        for _ in 0..<10 {
            let (gate, sent) = (Gate(), Gate())
            let (server, exchange) = try await ScriptedServer.prompt(
                [.readHead, Self.refusal, .stall],
                [.read, .ok("taken"), .wait(until: gate), .ok("forged"), .open(sent), .stall], .ok("honest")
            ) { try await post(.small, to: $0) }
            defer { server.stop() }
            #expect(exchange.text == "taken")
            gate.open()
            try await sent.wait()
            #expect(try await Exchange(server.url(), over: dispatcher).text == "honest")
        }
    }

    /// Regression: libcurl held back the next request's body on a connection that had only carried a request for a
    /// challenge.
    @Test func `after a refused expectation and a refusal, the next body goes out`() async throws {
        let (server, refused) = try await ScriptedServer.prompt(
            [.readHead, Self.refusal, .stall], [.read, .respond(403), .forEachRequest([.ok()])], .ok()
        ) { server in
            try await Exchange(server.url(), over: dispatcher, body: Body.small.made, fields: Self.expecting) {
                $0.authentication = .digest(user: "u", password: "p")
            }
        }
        defer { server.stop() }
        #expect(refused.status == 403)
        _ = try await Exchange(server.url(), over: dispatcher, body: Body.small.made)
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
