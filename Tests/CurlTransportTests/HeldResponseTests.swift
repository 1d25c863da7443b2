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
        let server = try ScriptedServer([.read, .send(redirect + Data(count: 8 << 20)), .stall], .ok("next"))
        defer { server.stop() }
        var configuration = CurlNetworkDispatcher.Configuration()
        configuration.maximumConnectionsPerOrigin = 1
        let dispatcher = CurlNetworkDispatcher(configuration: configuration)
        let other = NetworkClient(transport: dispatcher)
        let url = server.url()
        var client = NetworkClient(transport: dispatcher)
        // The redirect itself has to arrive within it.
        client.options.idleTimeout = .seconds(2 * patienceFactor)
        client.redirectPolicy = .deciding { _ in
            _ = try await other.send(RequestData(url: url), as: .text)
            return .stop
        }
        let error = await expectFailure(.redirectRefused) { [client] in
            try await client.send(RequestData(url: url), as: .text)
        }
        #expect(error.map { "\($0)".contains("decision") } == true)
        // The place is free again.
        #expect(try await other.send(RequestData(url: url), as: .text).body == "next")
    }

    /// Regression: a body of a known length was read to its end first, for up to a second.
    @Test func `a response that is ended does not wait for the rest of its body`() async throws {
        let isEnded = Gate()
        let server = try ScriptedServer(scripts: [
            [
                .read, .send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc"), .wait(until: isEnded), .send("def"),
                .forEachRequest([.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")]),
            ], .ok(),
        ])
        defer { server.stop() }
        var configuration = CurlNetworkDispatcher.Configuration()
        configuration.maximumConnectionsPerOrigin = 1
        let dispatcher = CurlNetworkDispatcher(configuration: configuration)
        let request = TransportRequest(url: try RequestURL(server.url()))
        let response = try await dispatcher.send(request)
        await response.end()
        // The loop takes jobs before messages: with the second job, it has seen the end.
        for _ in 0..<2 { await Task(executorPreference: try dispatcher.loopExecutor()) {}.value }
        isEnded.open()
        // Its connection would be free if the rest had been read.
        _ = try await dispatcher.send(request).body.collect()
        #expect(server.connectionCount == 2)
        await dispatcher.shutDown(within: .zero)
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

    /// Regression: a redirect or a retry began to read the body of a request anew while the earlier reading went on.
    @Test(arguments: [503, 200])
    func `a response that is drained ends the reading of its request's body`(status: Int) async throws {
        let (isAsked, isBlocked) = (Gate(), Gate())
        let isCancelled = OneTimeFlag()
        try await withServer([
            .readHead, .wait(until: isAsked), .send("HTTP/1.1 \(status) x\r\nContent-Length: 0\r\n\r\n"), .stall,
        ]) { server in
            let dispatcher = CurlNetworkDispatcher()
            let body = TransportRequest.Body.replayableStream { Watched(isAsked: isAsked, isCancelled: isCancelled) }
            let request = TransportRequest(method: .put, url: try RequestURL(server.url()), body: body)
            let response = try await dispatcher.send(request)
            // The loop is busy, and can't end the reading itself.
            let mayGoOn = DispatchSemaphore(value: 0)
            let block: @Sendable () -> Void = {
                isBlocked.open()
                mayGoOn.wait()
            }
            let blocking = Task(executorPreference: try dispatcher.loopExecutor()) { block() }
            try await isBlocked.wait()
            await response.drain()
            #expect(isCancelled.isRaised)
            mayGoOn.signal()
            await blocking.value
            await dispatcher.shutDown(within: .zero)
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

    /// Regression: the second sending of a request read its body at the same time as the first one did.
    @Test(arguments: [true, false], [true, false])
    func `a call's next exchange ends the reading of its body by the one before`(
        reads: Bool, isWitnessed: Bool
    ) async throws {
        let (isAsked, isBegun) = (Gate(), Gate())
        let isCancelled = OneTimeFlag()
        let server = try ScriptedServer(scripts: [
            [
                .readHead, .wait(until: isAsked), .send("HTTP/1.1 503 x\r\nContent-Length: 1\r\n\r\nx"), .stall,
            ], [.readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .stall],
        ])
        defer { server.stop() }
        let wasCancelled = Guarded<[Bool]>([])
        let body = TransportRequest.Body.replayableStream {
            wasCancelled.withLock { $0.append(isCancelled.isRaised) }
            return Watched(isAsked: isAsked, isCancelled: isCancelled)
        }
        let dispatcher = CurlNetworkDispatcher()
        let transport: any HTTPTransport = isWitnessed ? WitnessingTransport(base: dispatcher) : dispatcher
        var client = NetworkClient(transport: transport)
        client.interceptors.append(Twice(reads: reads, isBegun: isBegun))
        let request = TransportRequest(method: .put, url: try RequestURL(server.url()), body: body)
        let response = try await client.send(request, as: .stream)
        #expect(response.status == .ok)
        try await isBegun.wait()
        // The first reading had been cancelled when the second one began, if it has begun.
        #expect(isCancelled.isRaised)
        #expect(wasCancelled.withLock { $0.first == false && $0.dropFirst().allSatisfy { $0 } })
        await dispatcher.shutDown(within: .zero)
    }

    /// Regression: the reading that went on after its response took chunks from the next one.
    @Test(arguments: [true, false])
    func `a body that is sent anew ends the reading that goes on after its response`(isReleased: Bool) async throws {
        let (asks, isCancelled) = ([Gate(), Gate()], OneTimeFlag())
        let server = try ScriptedServer(scripts: [
            [.readHead, .wait(until: asks[0]), .send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"), .stall],
            [.readHead, .wait(until: asks[1]), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .stall],
        ])
        defer { server.stop() }
        let wasCancelled = Guarded<[Bool]>([])
        let body = TransportRequest.Body.replayableStream {
            let count = wasCancelled.withLock { readings in
                readings.append(isCancelled.isRaised)
                return readings.count
            }
            return Watched(isAsked: asks[min(count, 2) - 1], isCancelled: isCancelled)
        }
        let dispatcher = CurlNetworkDispatcher()
        let client = NetworkClient(transport: dispatcher)
        let request = TransportRequest(method: .put, url: try RequestURL(server.url()), body: body)
        if isReleased {
            _ = try await client.send(request, as: .stream)
        } else {
            #expect(try await client.send(request, as: .data).body == Data("x".utf8))
        }
        _ = try await client.send(request, as: .data)
        #expect(wasCancelled.withLock { $0 } == [false, true])
        await dispatcher.shutDown(within: .zero)
    }

    private struct WitnessingTransport: HTTPTransport {
        let base: CurlNetworkDispatcher
        var name: String { base.name }
        var capabilities: TransportCapabilities { base.capabilities }

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            try await base.send(request).witnessed { _ in }
        }
    }
}
