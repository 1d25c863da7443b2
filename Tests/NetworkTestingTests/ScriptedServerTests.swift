import Foundation
import NetworkCore
import Synchronization
import TestSupport
import Testing

@testable import NetworkTesting

/// Checks that a scripted server records any bytes of a client, and that none of them end the test's process.
@Suite("The scripted server", .patience(minutes: 1))
struct ScriptedServerTests {
    private static let ok = "HTTP/1.1 200 Scripted"
    private let server: ScriptedServer

    init() throws { server = try ScriptedServer(.ok()) }

    private static func request(_ fields: String, _ body: String) -> String {
        "POST / HTTP/1.1\r\n\(fields)\r\n\r\n\(body)"
    }

    @Test func `a server ends with its closure, on every way out`() async throws {
        struct Failure: Error {}
        let ended = try await withServer(.ok("x")) { server in
            let response = try await RawClient.exchange("GET / HTTP/1.1\r\n\r\n", port: server.port)
            #expect(response.hasSuffix("x"))
            return server
        }
        #expect(ended.isStopped)
        let failed = Guarded<ScriptedServer?>(nil)
        await #expect(throws: Failure.self) {
            try await withServer { server in
                failed.withLock { $0 = server }
                throw Failure()
            }
        }
        #expect(failed.withLock { $0?.isStopped } == true)
    }

    @Test(arguments: HostileNumber.all)
    func `an invalid length ends the connection after the head, which is recorded`(number: String) async throws {
        let digits = number.trimmingCharacters(in: .whitespaces)
        let isOne = Int(digits).map { $0 >= 0 && "\($0)" == digits } ?? false
        let response = try await RawClient.exchange(
            Self.request("Content-Length: \(number)", "abc"), port: server.port)
        try await server.wait { $0.endedConnectionCount == 1 }
        #expect(response.isEmpty)
        // With a valid length, the client ended the connection in the middle of the body.
        #expect(server.requests.map(\.method) == (isOne ? [] : ["POST"]))
        #expect(server.requests.allSatisfy { $0.body.isEmpty })
        #expect(server.connectionsEndedByPeer == (isOne ? 1 : 0))
        #expect(try await RawClient.exchange("GET / HTTP/1.1\r\n\r\n", port: server.port).hasPrefix(Self.ok))
    }

    @Test(arguments: HostileNumber.all)
    func `an invalid chunk size ends the connection after the bytes before it`(number: String) async throws {
        let digits = number.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
        let isOne = digits.allSatisfy { $0.isASCII && $0.isHexDigit } && Int(digits, radix: 16) != nil
        let body = "2\r\nab\r\n\(number)\r\nabc\r\n"
        let response = try await RawClient.exchange(
            Self.request("Transfer-Encoding: chunked", body), port: server.port)
        try await server.wait { $0.endedConnectionCount == 1 }
        #expect(response.isEmpty)
        #expect(server.requests.map(\.body) == (isOne ? [] : [Data("ab".utf8)]))
        #expect(server.connectionsEndedByPeer == (isOne ? 1 : 0))
        #expect(try await RawClient.exchange("GET / HTTP/1.1\r\n\r\n", port: server.port).hasPrefix(Self.ok))
    }

    @Test
    func `different lengths are invalid, and equal ones count once`() async throws {
        for (second, isRead) in [("3", true), ("4", false)] {
            let server = try ScriptedServer(.ok())
            defer { server.stop() }
            let fields = "Content-Length: 3\r\nContent-Length: \(second)"
            let response = try await RawClient.exchange(Self.request(fields, "abcd"), port: server.port)
            #expect(response.hasPrefix(Self.ok) == isRead)
            #expect(server.requests.first?.body == Data(isRead ? "abc".utf8 : "".utf8))
        }
    }

    @Test func `a wait has an end, which says what had happened`() async throws {
        _ = try await RawClient.exchange("GET /a HTTP/1.1\r\n\r\n", port: server.port)
        let error = await #expect(throws: ScriptedServer.UnmetCondition.self) {
            try await server.wait(atMost: .milliseconds(20)) { $0.requests.count == 2 }
        }
        let text = error?.description ?? ""
        #expect(text.contains("ScriptedServerTests.swift:") && text.contains("1 requests (last: GET /a)"), "\(text)")
        // A time beyond any clock's is no trap.
        let task = Task { try await server.wait(atMost: .seconds(Int64.max)) { $0.requests.count == 2 } }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    /// Regression: of two changes in quick succession the first one was missed.
    @Test func `a wait sees each number`() async throws {
        for _ in 0..<20 {
            let server = try ScriptedServer(.ok())
            defer { server.stop() }
            let (waits, waiting) = AsyncStream<Void>.makeStream()
            let one = Task {
                try await server.wait { progress in
                    waiting.yield()
                    return progress.requests.count == 1
                }
            }
            for await _ in waits { break }
            let both = (0..<2).map { _ in
                Task { try await RawClient.exchange("GET / HTTP/1.1\r\n\r\n", port: server.port) }
            }
            for request in both { _ = try await request.value }
            try await one.value
        }
    }

    /// Regression: a step that gave up after its minute was taken for an end by the client.
    @Test func `an end by the client is seen on the socket, whatever is unread`() async throws {
        for isReset in [false, true] {
            let listener = try LoopbackSocket.listening()
            defer { listener.close() }
            let client = try LoopbackSocket.connecting(to: try listener.localPort(), limit: 10_000).socket
            let server = try #require(listener.accept())
            defer { server.close() }
            #expect(client.send(Data("unread".utf8)))
            #expect(!server.isEndedByPeer)
            if isReset { client.resetOnClose() }
            client.close()
            // What is unread may be there before the end is.
            while !server.isEndedByPeer, !Task.isCancelled { await Task.yield() }
            #expect(server.isEndedByPeer)
        }
    }

    @Test
    func `a reset by the script is no end by the client`() async throws {
        let server = try ScriptedServer(.reset)
        defer { server.stop() }
        _ = try? await RawClient.exchange("GET / HTTP/1.1\r\n\r\n", port: server.port)
        try await server.wait { $0.endedConnectionCount == 1 }
        #expect(server.requests.count == 1)
        #expect(server.connectionsEndedByPeer == 0)
    }

    @Test
    func `chunk extensions and trailers are skipped, up to the next request`() async throws {
        let chunked = Self.request(
            "Transfer-Encoding: chunked", "3;a=b\r\nabc\r\n00A \r\n0123456789\r\n0\r\nX-A: 1\r\nX-B: 2\r\n\r\n")
        let response = try await RawClient.exchange(chunked + "GET /next HTTP/1.1\r\n\r\n", port: server.port)
        #expect(response.components(separatedBy: Self.ok).count == 3)
        #expect(server.requests.map(\.target) == ["/", "/next"])
        #expect(server.requests.first?.body == Data("abc0123456789".utf8))
    }

    /// Regression: the thread that accepts took connections for a while after that.
    @Test func `a stopped server refuses connections at once`() throws {
        for _ in 0..<50 {
            let server = try ScriptedServer(.ok())
            server.stop()
            let (socket, hasOutcome) = try LoopbackSocket.connecting(to: server.port, limit: 10_000)
            #expect(hasOutcome && !socket.send(Data("x".utf8)))
            socket.close()
        }
    }

    @Test func `a gate forgets those that no longer wait`() async throws {
        let gate = Gate()
        for _ in 0..<100 {
            let waiting = Task { try await gate.wait() }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
        #expect(gate.waitingCount == 0)
    }

    /// Regression: a pause ended at once while input was unread.
    @Test func `pieces have pauses though input waits`() async throws {
        let server = try ScriptedServer(
            [
                .readHead,
                .sendSplit(Script.head(200, fields: [("Content-Length", "0")]), each: 10, pause: .milliseconds(20)),
                .close,
            ])
        defer { server.stop() }
        let (socket, _) = try LoopbackSocket.connecting(to: server.port, limit: 1_000)
        defer { socket.close() }
        let began = ContinuousClock.now
        #expect(socket.send(Data("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\n12345".utf8)))
        while socket.receive() != nil {}
        #expect(ContinuousClock.now - began >= .milliseconds(60))
    }
}
