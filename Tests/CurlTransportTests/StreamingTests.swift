import Foundation
import NetworkCore
import NetworkTesting
import Testing

@testable import CurlTransport

@Suite("Streaming over curl", .timeLimit(.minutes(1)))
struct StreamingTests {
    private let dispatcher = CurlNetworkDispatcher()

    private func send(_ url: String, _ change: (inout TransportOptions) -> Void = { _ in }) async throws
        -> TransportResponse
    {
        var request = TransportRequest(url: try RequestURL(url))
        request.options.totalTimeout = .seconds(30)
        change(&request.options)
        return try await dispatcher.send(request)
    }

    @Test func theHeadArrivesBeforeTheBody() async throws {
        let gate = Gate()
        let server = try ScriptedServer([
            .read, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"), .wait(until: gate), .send("ok"), .close,
        ])
        defer { server.stop() }
        let response = try await send(server.url())
        #expect(response.head.status == .ok)
        #expect(response.metrics.responseBodyBytes == 0)
        gate.open()
        #expect(try await response.body.collect() == Data("ok".utf8))
        #expect(response.metrics.responseBodyBytes == 2)
        #expect(response.metrics.remoteAddress != nil)
    }

    @Test func chunksArriveAsTheyAreSent() async throws {
        let gates = [Gate(), Gate()]
        let server = try ScriptedServer([
            .read, .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
            .wait(until: gates[0]), .send("3\r\none\r\n"), .wait(until: gates[1]),
            .send("3\r\ntwo\r\n0\r\nT: 1\r\nU: 2\r\n\r\n"),
            .close,
        ])
        defer { server.stop() }
        let response = try await send(server.url())
        var chunks = response.body.makeAsyncIterator()
        gates[0].open()
        #expect(try await chunks.next() == Data("one".utf8))
        #expect(response.body.trailers == nil)
        gates[1].open()
        #expect(try await chunks.next() == Data("two".utf8))
        #expect(try await chunks.next() == nil)
        #expect(try await chunks.next() == nil)
        #expect(response.body.trailers?.map { "\($0.name.rawName)=\($0.value)" } == ["T=1", "U=2"])
    }

    @Test func aSlowReaderStopsTheServer() async throws {
        let size = 64 << 20
        let server = try ScriptedServer([
            .read, .send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n"), .send(Data(count: size)), .close,
        ])
        defer { server.stop() }
        let response = try await send(server.url())
        var chunks = response.body.makeAsyncIterator()
        let first = try #require(try await chunks.next())
        #expect(!first.isEmpty)
        // The loop serves others meanwhile, and what it took from this one is far from everything.
        let other = try ScriptedServer(.ok("x"))
        defer { other.stop() }
        for _ in 0..<50 { _ = try await send(other.url()).body.collect() }
        let taken = try #require(response.metrics.responseBodyBytes)
        #expect(taken < 2 << 20)
        var total = first.count
        while let chunk = try await chunks.next() { total += chunk.count }
        #expect(total == size)
    }

    @Test func aReaderThatWaitsBeforeTheSenderPausesIsNotForgotten() async throws {
        // Chunks around the marks, read as fast as they come and with a pause now and then.
        let size = 8 << 20
        let server = try ScriptedServer([
            .forEachRequest([.send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n"), .send(Data(count: size))])
        ])
        defer { server.stop() }
        for round in 0..<100 {
            let response = try await send(server.url())
            var total = 0
            for try await chunk in response.body {
                total += chunk.count
                if round % 3 == 0 { await Task.yield() }
            }
            #expect(total == size)
        }
    }

    @Test func aSmallRestIsDrained_AndTheConnectionKept() async throws {
        let server = try ScriptedServer(.ok(String(repeating: "x", count: 10_000)))
        defer { server.stop() }
        for _ in 0..<20 { _ = try await send(server.url()).head }
        _ = try await send(server.url()).body.collect()
        #expect(server.requests.count == 21)
        #expect(server.connectionCount <= 2)
    }

    @Test func aDroppedEndlessBodyEndsTheConnection() async throws {
        let server = try ScriptedServer([
            .read, .send("HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n"), .send(Data(count: 100_000)), .stall,
        ])
        defer { server.stop() }
        for _ in 0..<100 {
            var response: TransportResponse? = try await send(server.url())
            #expect(response?.head.status == .ok)
            response = nil
        }
        try await server.wait { $0.endedConnectionCount == 100 }
    }

    @Test func cancellingTheReaderEndsTheExchange_Once() async throws {
        let server = try ScriptedServer([
            .read, .send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc"), .stall,
        ])
        defer { server.stop() }
        for _ in 0..<100 {
            let response = try await send(server.url())
            var chunks = response.body.makeAsyncIterator()
            #expect(try await chunks.next() == Data("abc".utf8))
            let reader = Task {
                var chunks = response.body.makeAsyncIterator()
                return try await chunks.next()
            }
            await Task.yield()
            reader.cancel()
            await #expect { try await reader.value } throws: { ($0 as? NetworkError)?.code == .cancelled }
            #expect(try await chunks.next() == nil)
        }
        try await server.wait { $0.endedConnectionCount == 100 }
    }

    @Test func aFailureInTheBodyComesAfterWhatArrived_Once() async throws {
        let server = try ScriptedServer(.truncated)
        defer { server.stop() }
        let response = try await send(server.url())
        var chunks = response.body.makeAsyncIterator()
        #expect(try await chunks.next() == Data("0123456789".utf8))
        await #expect { _ = try await chunks.next() } throws: { error in
            let error = error as? NetworkError
            return error?.code == .truncatedBody && error?.exchange?.transport == "curl"
        }
        #expect(try await chunks.next() == nil)
    }

    @Test func anIdleServerInTheBodyTimesOut_ButASlowReaderDoesNot() async throws {
        let server = try ScriptedServer([.read, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .stall])
        defer { server.stop() }
        let response = try await send(server.url()) { $0.idleTimeout = .milliseconds(100) }
        await #expect { try await response.body.collect() } throws: { ($0 as? NetworkError)?.code == .idleTimeout }
    }

    @Test func aSecondReaderIsRefused() async throws {
        let server = try ScriptedServer([.read, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"), .stall])
        defer { server.stop() }
        let response = try await send(server.url())
        let first = Task { try await response.body.collect() }
        // Until the first one waits, the second may be the first.
        await Task.yield()
        let second = Task { try await response.body.collect() }
        try await server.wait { $0.requests.count == 1 }
        let codes = await withTaskGroup(of: NetworkError.Code?.self) { group in
            for task in [first, second] {
                group.addTask {
                    do {
                        _ = try await task.value
                        return nil
                    } catch { return (error as? NetworkError)?.code }
                }
            }
            let refused = await group.next()
            first.cancel()
            second.cancel()
            return [refused ?? nil] + (await group.reduce(into: []) { $0.append($1) })
        }
        #expect(codes == [.invalidOption, .cancelled])
    }

    @Test func collectKeepsItsLimit_WhetherTheLengthIsKnownOrNot() async throws {
        let known = try ScriptedServer(.ok("0123456789"))
        let unknown = try ScriptedServer(.raw("HTTP/1.1 200 OK\r\n\r\n0123456789"))
        defer {
            known.stop()
            unknown.stop()
        }
        for server in [known, unknown] {
            #expect(try await send(server.url()).body.collect(upTo: 10).count == 10)
            let response = try await send(server.url())
            await #expect { try await response.body.collect(upTo: 9) } throws: {
                ($0 as? NetworkError)?.code == .bodyTooLarge
            }
        }
    }
}
