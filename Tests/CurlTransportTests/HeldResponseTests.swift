import Foundation
import NetworkTesting
import Synchronization
import TestSupport
import Testing

@testable import CurlTransport
@testable import NetworkCore

/// A response whose body waits holds its place among the requests to its origin.
@Suite("Responses that wait", .patience(minutes: 1))
struct HeldResponseTests {
    /// Regression: a decision that sent a request waited for the place of its own redirect, without end.
    @Test func `a decision that needs the place of its redirect fails after the idle timeout`() async throws {
        let redirect = Script.head(302, fields: [("Location", "/next"), ("Content-Length", "50000000")])
        try await withServer([.read, .send(redirect + Data(count: 8 << 20)), .stall], .ok("next")) {
            server async throws in
            let dispatcher = CurlNetworkDispatcher { $0.maximumConnectionsPerOrigin = 1 }
            let other = NetworkClient(transport: dispatcher)
            let url = server.url()
            let client = other.with {
                // The redirect itself has to arrive within it.
                $0.options.idleTimeout = .seconds(2 * patienceFactor)
                $0.redirectPolicy = .deciding { _ in
                    _ = try await other.send(RequestData(url: url), as: .text)
                    return .stop
                }
            }
            let error = await expectFailure(.redirectRefused) {
                try await client.send(RequestData(url: url), as: .text)
            }
            #expect(error.map { "\($0)".contains("decision") } == true)
            // The place is free again.
            #expect(try await other.send(RequestData(url: url), as: .text).body == "next")
        }
    }

    /// Regression: a body of a known length was read to its end first, for up to a second.
    @Test func `a response that is ended does not wait for the rest of its body`() async throws {
        let isEnded = Gate()
        let start = Script.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc")
        try await withServer(
            [.read, start, .wait(until: isEnded), .send("def"), .forEachRequest([.ok()])], .ok()
        ) { server in
            let dispatcher = CurlNetworkDispatcher { $0.maximumConnectionsPerOrigin = 1 }
            let response = try await dispatcher.start(server.url())
            await response.end()
            // The loop takes jobs before messages: with the second job, it has seen the end.
            for _ in 0..<2 { await Task(executorPreference: try dispatcher.loopExecutor()) {}.value }
            isEnded.open()
            // Its connection would be free if the rest had been read.
            _ = try await Exchange(server.url(), over: dispatcher)
            #expect(server.connectionCount == 2)
        }
    }

    /// A stream whose reading is watched.
    private struct Watched: AsyncSequence, AsyncIteratorProtocol {
        let isAsked: Gate
        let isCancelled: OneTimeFlag

        func makeAsyncIterator() -> Self { self }

        func next() async -> Data? {
            await withTaskCancellationHandler {
                isAsked.open()
                // Ends with the task.
                try? await Gate().wait()
                return nil
            } onCancel: {
                _ = isCancelled.raise()
            }
        }
    }

    /// A body whose readings are watched: of each, whether one had been cancelled before.
    private final class WatchedBody: Sendable {
        let isCancelled = OneTimeFlag()
        private let asks: [Gate]
        private let readings = Guarded<[Bool]>([])
        var wasCancelled: [Bool] { readings.withLock(\.self) }

        /// - Parameter asks: The gates that open with the first reading, the second, and so on.
        init(_ asks: Gate...) { self.asks = asks }

        var body: TransportRequest.Body {
            .replayableStream { [self] in
                let count = readings.withLock { readings in
                    readings.append(isCancelled.isRaised)
                    return readings.count
                }
                return Watched(isAsked: asks[min(count, asks.count) - 1], isCancelled: isCancelled)
            }
        }
    }

    /// Regression: a redirect or a retry began to read the body of a request anew while the earlier reading went on.
    @Test(arguments: [503, 200])
    func `a response that is drained ends the reading of its request's body`(status: Int) async throws {
        let (isAsked, isBlocked) = (Gate(), Gate())
        try await withServer([.readHead, .wait(until: isAsked), .respond(status), .stall]) { server in
            let dispatcher = CurlNetworkDispatcher()
            let watched = WatchedBody(isAsked)
            let response = try await dispatcher.start(server.url(), .put, body: watched.body)
            // The loop is busy, and can't end the reading itself.
            let mayGoOn = DispatchSemaphore(value: 0)
            let block: @Sendable () -> Void = {
                isBlocked.open()
                mayGoOn.wait()
            }
            let blocking = Task(executorPreference: try dispatcher.loopExecutor()) { block() }
            try await isBlocked.wait()
            await response.drain()
            #expect(watched.isCancelled.isRaised)
            mayGoOn.signal()
            await blocking.value
        }
    }

    /// Sends each request twice, and drops the first response or reads it.
    private struct Twice: Interceptor {
        let reads: Bool
        let isBegun: Gate

        func intercept(_ request: TransportRequest, in call: Call, next: Next) async throws -> TransportResponse {
            do {
                let response = try await next(request)
                if reads { _ = try await response.body.collect() }
            }
            isBegun.open()
            return try await next(request)
        }
    }

    private struct WitnessingTransport: HTTPTransport {
        let base: CurlNetworkDispatcher
        var name: String { base.name }
        var capabilities: TransportCapabilities { base.capabilities }

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            try await base.send(request).witnessed { _ in }
        }
    }

    /// Regression: the second sending of a request read its body at the same time as the first one did.
    @Test(arguments: [true, false], [true, false])
    func `a call's next exchange ends the reading of its body by the one before`(
        reads: Bool, isWitnessed: Bool
    ) async throws {
        let (isAsked, isBegun) = (Gate(), Gate())
        try await withServer(
            [.readHead, .wait(until: isAsked), .respond(503, "x"), .stall], [.readHead, .ok(), .stall]
        ) { server in
            let watched = WatchedBody(isAsked)
            let dispatcher = CurlNetworkDispatcher()
            var client = NetworkClient(transport: isWitnessed ? WitnessingTransport(base: dispatcher) : dispatcher)
            client.interceptors.append(Twice(reads: reads, isBegun: isBegun))
            let request = try makeRequest(server.url(), .put, body: watched.body)
            #expect(try await client.send(request, as: .stream).status == .ok)
            try await isBegun.wait()
            // The first reading had been cancelled when the second one began, if it has begun.
            #expect(watched.isCancelled.isRaised)
            #expect(watched.wasCancelled.first == false && watched.wasCancelled.dropFirst().allSatisfy { $0 })
        }
    }

    /// Regression: the reading that went on after its response took chunks from the next one.
    @Test(arguments: [true, false])
    func `a body that is sent anew ends the reading that goes on after its response`(isReleased: Bool) async throws {
        let (first, second) = (Gate(), Gate())
        try await withServer(
            [.readHead, .wait(until: first), .ok("x"), .stall], [.readHead, .wait(until: second), .ok(), .stall]
        ) { server in
            let watched = WatchedBody(first, second)
            let client = NetworkClient(transport: CurlNetworkDispatcher())
            let request = try makeRequest(server.url(), .put, body: watched.body)
            if isReleased {
                _ = try await client.send(request, as: .stream)
            } else {
                #expect(try await client.send(request, as: .data).body == Data("x".utf8))
            }
            _ = try await client.send(request, as: .data)
            #expect(watched.wasCancelled == [false, true])
        }
    }
}
