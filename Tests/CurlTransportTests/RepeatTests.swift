import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

/// Requests that libcurl sends again on its own when a kept connection ends before a response.
@Suite("Repeats below the pipeline", .patience(minutes: 1))
struct RepeatTests {
    private let dispatcher = CurlNetworkDispatcher()

    private func send(
        _ method: HTTPRequest.Method, _ url: String, body: TransportRequest.Body? = nil, repeatsAnyMethod: Bool = false
    ) async throws -> TransportMetrics {
        try await Exchange(url, method, over: dispatcher, body: body) {
            $0.connection.repeatsAnyMethod = repeatsAnyMethod
        }.metrics
    }

    enum Body: CaseIterable {
        case none, small, large, streamed

        var made: TransportRequest.Body? {
            switch self {
            case .none: nil
            case .small: .bytes(Data("amount=100".utf8))
            case .large: .bytes(Data(count: 100_000))
            case .streamed: .once("x")
            }
        }
    }

    @Test(arguments: [HTTPRequest.Method.post, .patch, HTTPRequest.Method("CHARGE")!], Body.allCases)
    func `a method that is not idempotent is executed once`(method: HTTPRequest.Method, kind: Body) async throws {
        try await withServer(.once, .ok()) { server in
            _ = try await send(.get, server.url())
            await expectFailure(.connectionLost) { try await send(method, server.url(), body: kind.made) }
            #expect(server.requests.filter { $0.method == method.rawValue }.count == 1)
        }
    }

    @Test(arguments: [HTTPRequest.Method.get, .put, .delete])
    func `an idempotent method is repeated, and counted`(method: HTTPRequest.Method) async throws {
        try await withServer(.once, .ok()) { server async throws in
            #expect(try await send(.get, server.url()).repeats == 0)
            #expect(try await send(method, server.url()).repeats == 1)
            #expect(server.requests.count == 3)
        }
    }

    @Test func `a caller may allow repeats`() async throws {
        try await withServer(.once, .ok()) { server in
            _ = try await send(.get, server.url())
            _ = try await send(.post, server.url(), body: .bytes(Data("x".utf8)), repeatsAnyMethod: true)
            #expect(server.requests.filter { $0.method == "POST" }.count == 2)
        }
    }

    enum LargeBody: CaseIterable {
        case bytes, replayable, chunked, once

        /// More than the server reads and than the sockets of a connection hold.
        static let size = chunk.count * 12
        private static let chunk = Data(count: 1 << 20)
        /// Made once, because a sanitizer watches each allocation.
        private static let whole = Data(count: size)

        func body() -> TransportRequest.Body {
            let chunks = { @Sendable in AsyncStream.of(Array(repeating: Self.chunk, count: 12)) }
            return switch self {
            case .bytes: .bytes(Self.whole)
            case .replayable: .replayableStream(length: Self.size, chunks)
            case .chunked: .replayableStream(chunks)
            case .once: .stream(chunks())
            }
        }
    }

    /// The server resets the connection while the body goes out, and no byte of a response arrives.
    ///
    /// Regression: below libcurl 8.14 such a request failed, though its method is idempotent.
    @Test(arguments: [HTTPRequest.Method.put, .post], LargeBody.allCases)
    func `a connection that breaks while the body is sent is like one that ends after it`(
        method: HTTPRequest.Method, kind: LargeBody
    ) async throws {
        // Whether the break shows while libcurl reads or while it sends is a matter of luck.
        for _ in 0..<20 {
            try await withServer([.read, .ok(), .readHead, .readBody(1 << 20), .reset], .ok()) { server in
                _ = try await send(.get, server.url())
                if method == .put, kind != .once {
                    #expect(try await send(method, server.url(), body: kind.body()).repeats == 1)
                    #expect(server.requests.last?.body.count == LargeBody.size)
                    #expect(server.connectionCount == 2)
                } else {
                    await expectFailure(.connectionLost) { try await send(method, server.url(), body: kind.body()) }
                    #expect(server.requests.count { $0.method == method.rawValue } == 1)
                }
            }
        }
    }

    /// Regression: the clock of the last attempt.
    @Test func `the first byte of a repeated request is counted from its start`() async throws {
        try await withServer([.read, .ok(), .read, .pause(.milliseconds(200)), .close], .ok()) { server in
            _ = try await send(.get, server.url())
            let metrics = try await send(.get, server.url())
            #expect(metrics.repeats == 1)
            let firstByte = try #require(metrics.firstByte)
            #expect(firstByte >= .milliseconds(199) && firstByte <= metrics.total, "\(metrics)")
        }
    }

    @Test func `a repeat by the transport is an attempt of the call`() async throws {
        try await withServer(.once, .ok("once more")) { server in
            let client = NetworkClient(transport: dispatcher)
            _ = try await client.send(RequestData(path: server.url()), as: .data).body
            #expect(try await client.send(RequestData(path: server.url()), as: .data).attempts == 2)
        }
    }

    /// Regression: libcurl tried up to five more kept connections, and gave up.
    @Test func `a repeat goes over a new connection, however many kept ones are broken`() async throws {
        let count = 8
        let (asked, proceed) = ((0..<count).map { _ in Gate() }, Gate())
        let broken = asked.map { Script([.read, .open($0), .wait(until: proceed), .ok(), .read, .reset]) }
        let server = try ScriptedServer(scripts: broken + [.ok()])
        defer { server.stop() }
        async let first = atOnce(count) { _ in try await send(.get, server.url()) }
        for gate in asked { try await gate.wait() }
        proceed.open()
        _ = try await first
        #expect(server.connectionCount == count)
        #expect(try await send(.get, server.url()).repeats == 1)
        #expect(server.requests.count == count + 2 && server.connectionCount == count + 1)
    }

    /// Regression: only the repeats of the last exchange counted.
    @Test(
        arguments: [
            // Without the announcement, the retry may come before the connection's end.
            ("HTTP/1.1 503 Later\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", .unacceptableStatus),
            ("", .connectionLost),
        ] as [(String, NetworkError.Code)])
    func `repeats of each exchange are attempts of the call`(second: String, code: NetworkError.Code) async throws {
        let ending: Script = [.read, .send(second), .close]
        try await withServer(.once, ending, .once, ending) { server in
            var policy = RetryInterceptor.Policy()
            (policy.maximumRetries, policy.baseDelay) = (1, .zero)
            let client = NetworkClient(transport: dispatcher).with { $0.interceptors = [.retry(policy)] }
            _ = try await send(.get, server.url())
            // The first connection is kept. Then there is one attempt over it, its repeat over a second one, and the
            // retry over a third one, which ends well and is kept in turn.
            #expect(try await client.send(RequestData(path: server.url()), as: .data).attempts == 3)
            let error = await expectFailure(code) { try await client.send(RequestData(path: server.url()), as: .data) }
            #expect(error?.exchange?.attempts == 3)
        }
    }

    // MARK: Without libcurl

    /// A delegate that reports waiting bytes on every connection but the first.
    private final class SoiledConnections: TransferDelegate {
        private var looks = 0

        func transfer(_ transfer: Transfer, goesOutOver ends: ConnectionEnds) -> Bool {
            looks += 1
            return looks == 1
        }

        func transferWasTouched(_ transfer: Transfer) {}
        func transferKeepsBytes(_ transfer: Transfer) {}
        func transferHasConnection(_ transfer: Transfer) {}
        func transferMayLookUp(_ transfer: Transfer) -> Bool { true }
        func transferGoesOutAgain(_ transfer: Transfer) {}
        func transferYields(_ transfer: Transfer) {}
        func transfer(_ transfer: Transfer, opened descriptor: Int32) {}
        func transferFoundNoSocket(_ transfer: Transfer) {}
        func transfer(_ transfer: Transfer, waitsOn descriptor: Int32, for interest: Epoll.Interest) {}
    }

    /// A loop that carries nothing.
    private static let loop = Result { try CurlLoop(limits: LoopLimits()) }

    private static func running(
        _ method: HTTPRequest.Method, _ url: String, over connections: SoiledConnections
    ) throws -> Transfer {
        let transfer = try Transfer(makeRequest(url, method), over: try Self.loop.get())
        transfer.state.delegate = connections
        transfer.state.life = .admitted(.running(again: nil), isLookingUp: false)
        return transfer
    }

    /// Regression: a repeat whose name had to be looked up waited in the queue, and went out over a new handle.
    @Test(arguments: [(HTTPRequest.Method.post, false), (.get, true)])
    func `a return to the queue is no way to repeat`(method: HTTPRequest.Method, mayRepeat: Bool) throws {
        let connections = SoiledConnections()
        let transfer = try Self.running(method, "http://name.test/", over: connections)
        #expect(transfer.lookUpBegins())
        #expect(transfer.mayGoOut(over: ConnectionEnds(localPort: 1), sent: 0))
        // The handle before has sent the request.
        transfer.state.sentEarlier = 120
        #expect(transfer.lookUpBegins() == mayRepeat)
        #expect((transfer.state.response.failure == nil) == mayRepeat)
        #expect(transfer.sentBytes == 120)
    }

    /// Regression: such a request ended as one that was never sent, which may be sent again.
    @Test(arguments: [false, true])
    func `a request that has gone out does not end as one in the queue`(hasGoneOut: Bool) throws {
        let transfer = try Self.running(.get, "http://name.test/", over: SoiledConnections())
        #expect(transfer.lookUpBegins())
        if hasGoneOut {
            #expect(transfer.mayGoOut(over: ConnectionEnds(localPort: 1), sent: 0))
            #expect(transfer.lookUpBegins())
        }
        try transfer.withdraw()
        #expect(transfer.noPlace.code == (hasGoneOut ? .connectionLost : .overloaded))
        #expect(transfer.noPlace.phase == (hasGoneOut ? .waiting : .queued))
        #expect(transfer.timeout(.totalTimeout).phase == (hasGoneOut ? .waiting : .queued))
    }

    /// With a new connection comes a new handle, which has sent nothing.
    @Test(arguments: [(HTTPRequest.Method.post, false), (.get, true)])
    func `a new connection in place of a kept one is no way to repeat`(method: HTTPRequest.Method, mayBegin: Bool)
        throws
    {
        let connections = SoiledConnections()
        let transfer = try Self.running(method, "http://127.0.0.1/", over: connections)
        #expect(transfer.mayGoOut(over: ConnectionEnds(localPort: 1), sent: 0))
        #expect(!transfer.mayGoOut(over: ConnectionEnds(localPort: 2), sent: 120))
        #expect((transfer.state.life.again == .overNewConnection) == mayBegin)
        #expect((transfer.state.response.failure == nil) == mayBegin)
    }

    @Test func `the record tells a repeat from a round`() {
        var record = SendingRecord(mayRepeat: false, isCounted: true)
        #expect(record.goesOut(sent: 0) == true)
        record.responseArrived()
        #expect(record.goesOut(sent: 100) == true)
        #expect(record.attempts == 2 && record.repeats == 0)
        // The connection was found dead before any byte of the request went out.
        #expect(record.goesOut(sent: 100) == true)
        #expect(record.repeats == 1)
        #expect(record.goesOut(sent: 150) == false)
        #expect(record.attempts == 3)
    }

    /// Over TLS no count tells that nothing has gone out.
    @Test func `the record counts an attempt over TLS as sent`() {
        var record = SendingRecord(mayRepeat: false, isCounted: false)
        #expect(record.goesOut(sent: 0) == true)
        #expect(record.goesOut(sent: 0) == false)
        var idempotent = SendingRecord(mayRepeat: true, isCounted: false)
        for attempt in 0..<7 { #expect(idempotent.goesOut(sent: 0) == (attempt <= 5)) }
        #expect(idempotent.repeats == 5)
    }
}
