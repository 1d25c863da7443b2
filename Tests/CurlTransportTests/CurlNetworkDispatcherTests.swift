import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

@Suite("The curl dispatcher", .patience(minutes: 1))
struct CurlNetworkDispatcherTests {
    private func request(_ url: String, _ change: (inout TransportRequest) -> Void = { _ in }) throws
        -> TransportRequest
    {
        var request = TransportRequest(url: try RequestURL(url))
        change(&request)
        return request
    }

    @Test func `no more connections are open than the limit allows, and the others wait in order`() async throws {
        try await withServer(.ok("x")) { server in
            var configuration = CurlNetworkDispatcher.Configuration()
            configuration.maximumConnectionsPerOrigin = 3
            let dispatcher = CurlNetworkDispatcher(configuration: configuration)
            let request = try request(server.url())
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<200 { group.addTask { _ = try await dispatcher.send(request).body.collect() } }
                try await group.waitForAll()
            }
            #expect(server.requests.count == 200)
            #expect(server.connectionCount <= 3)
        }
    }

    @Test func `a full queue is overloaded`() async throws {
        try await withServer(.stalled) { server in
            var configuration = CurlNetworkDispatcher.Configuration()
            configuration.maximumConnectionsPerOrigin = 1
            configuration.maximumQueued = 1
            let dispatcher = CurlNetworkDispatcher(configuration: configuration)
            let request = try request(server.url())
            let codes = await withTaskGroup(of: NetworkError.Code?.self) { group in
                for _ in 0..<3 {
                    group.addTask {
                        do {
                            _ = try await dispatcher.send(request)
                            return nil
                        } catch { return (error as? NetworkError)?.code }
                    }
                }
                // One runs, one waits, and one is refused: the refused one is the first to end.
                let first = await group.next()
                server.stop()
                group.cancelAll()
                return [first ?? nil]
            }
            #expect(codes == [.overloaded])
        }
    }

    @Test func `dropping the dispatcher fails the running requests`() async throws {
        try await withServer(.stalled) { server in
            let loop = try CurlLoop(limits: LoopLimits())
            let request = try request(server.url())
            func makeTransfer() throws -> Transfer {
                try Transfer(request, over: loop)
            }
            let transfer = try makeTransfer()
            let outcome = Task {
                try await Waiter.wait(isOnLoop: false) { continuation in
                    transfer.channel.attach(continuation)
                    loop.start(transfer)
                }
            }
            try await server.wait { $0.requests.count == 1 }
            loop.shutDown(within: .zero)
            await #expect { try await outcome.value } throws: { ($0 as? NetworkError)?.code == .shutDown }

            let late = try makeTransfer()
            loop.start(late)
            await #expect {
                try await Waiter.wait(isOnLoop: false) { late.channel.attach($0) }
            } throws: { ($0 as? NetworkError)?.code == .shutDown }
        }
    }

    @Test func `a thousand cancels in every phase end once each, and the dispatcher goes on`() async throws {
        try await withServer([
            .forEachRequest([
                .send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"), .send(Data(count: 50_000)), .stall,
            ])
        ]) { server in
            let dispatcher = CurlNetworkDispatcher()
            let request = try request(server.url())
            var random = SeededGenerator(seed: 5)
            for _ in 0..<1_000 {
                let task = Task { try await dispatcher.send(request).body.collect() }
                for _ in 0..<Int.random(in: 0..<40, using: &random) { await Task.yield() }
                task.cancel()
                await #expect { try await task.value } throws: { NetworkError.code(of: $0) == .cancelled }
            }
            let other = try ScriptedServer(.ok("still here"))
            defer { other.stop() }
            let response = try await dispatcher.send(try self.request(other.url()))
            #expect(try await response.body.collect() == Data("still here".utf8))
        }
    }

    @Test func `many total timeouts in the queue end each`() async throws {
        try await withServer(.stalled) { server in
            var configuration = CurlNetworkDispatcher.Configuration()
            configuration.maximumConnectionsPerOrigin = 2
            let dispatcher = CurlNetworkDispatcher(configuration: configuration)
            let request = try request(server.url()) { $0.options.totalTimeout = .milliseconds(100) }
            let codes = await withTaskGroup(of: NetworkError.Code?.self) { group in
                for _ in 0..<2_000 {
                    group.addTask {
                        do {
                            _ = try await dispatcher.send(request)
                            return nil
                        } catch { return (error as? NetworkError)?.code }
                    }
                }
                return await group.reduce(into: [:] as [NetworkError.Code?: Int]) { $0[$1, default: 0] += 1 }
            }
            #expect(codes == [.totalTimeout: 2_000])
        }
    }

    private func metrics(
        _ dispatcher: CurlNetworkDispatcher, _ request: TransportRequest
    ) async throws -> TransportMetrics {
        let response = try await dispatcher.send(request)
        _ = try await response.body.collect()
        return response.metrics
    }

    @Test func `metrics tell reuse, addresses and sizes, and an unknown figure is nil`() async throws {
        try await withServer(.ok("hello")) { server in
            let dispatcher = CurlNetworkDispatcher()
            let request = try request(server.url())
            let first = try await metrics(dispatcher, request)
            let second = try await metrics(dispatcher, request)
            #expect(first.connectionReused == false)
            #expect(first.connect != nil)
            #expect(second.connectionReused == true)
            #expect(second.connect == nil)
            #expect(second.nameLookup == nil)
            #expect(second.tls == nil)
            #expect(second.httpVersion == "1.1")
            #expect(second.remoteAddress == "127.0.0.1:\(server.port)")
            #expect(second.responseBodyBytes == 5)
            #expect(second.responseWireBytes == 5)
            #expect(second.requestBodyBytes == nil)
            #expect((second.queued ?? .seconds(-1)) >= .zero)
            #expect((second.firstByte ?? .zero) > .zero)
            #expect(second.total >= second.firstByte ?? .zero)
        }
    }

    @Test func `a GET with a body is sent`() async throws {
        try await withServer(.ok("x")) { server in
            _ = try await CurlNetworkDispatcher.shared.send(
                try request(server.url()) { $0.body = .bytes(Data("query".utf8)) })
            let received = try #require(server.requests.first)
            #expect(received.method == "GET")
            #expect(received.body == Data("query".utf8))
        }
    }

    @Test func `an IPv6 literal is reached, or refused by the network`() async throws {
        // Nothing listens on port 1 of ::1. The point is that a connection is attempted and the request is not refused
        // up front.
        await #expect {
            try await CurlNetworkDispatcher.shared.send(try request("http://[::1]:1/"))
        } throws: { ($0 as? NetworkError)?.code == .connectFailed }
    }
}
