import Foundation
import NetworkCore
import NetworkTesting
import Synchronization
import TestSupport
import Testing

@testable import CurlTransport

@Suite("Bodies that arrive faster than the loop should read", .patience(minutes: 1))
struct YieldingTests {
    /// Returns the body in chunks of the given size, in bytes.
    private func chunked(_ body: Data, by size: Int) -> Data {
        var wire = Data("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
        wire.reserveCapacity(body.count / size * (size + 12))
        let (whole, end) = (Data("\(String(size, radix: 16))\r\n".utf8), Data("\r\n".utf8))
        for start in stride(from: 0, to: body.count, by: size) {
            let chunk = body[start..<min(start + size, body.count)]
            wire.append(chunk.count == size ? whole : Data("\(String(chunk.count, radix: 16))\r\n".utf8))
            wire.append(chunk)
            wire.append(end)
        }
        wire.append(Data("0\r\n\r\n".utf8))
        return wire
    }

    private func request(_ server: ScriptedServer) throws -> TransportRequest {
        var request = TransportRequest(url: try RequestURL(server.url()))
        request.options.totalTimeout = .seconds(40)
        return request
    }

    /// Regression: one call of libcurl took a hundred buffer loads, each of 87,000 such chunks.
    @Test func `a round of the loop takes a bounded part of a body`() async throws {
        let body = PatternBytes.make(count: 500_000)
        try await withServer(.raw(chunked(body, by: 1))) { server in
            let loop = try CurlLoop(limits: LoopLimits())
            let transfer = try Transfer(try request(server), over: loop)
            let most = Atomic(0)
            loop.start(transfer)
            // One job for each round of the loop.
            let rounds = Task(executorPreference: loop.executor) {
                var before = 0
                while !transfer.channel.isAtEnd, transfer.channel.receivedBytes < body.count {
                    let now = transfer.channel.receivedBytes
                    most.store(max(most.load(ordering: .relaxed), now - before), ordering: .relaxed)
                    before = now
                    await Task.yield()
                }
            }
            await rounds.value
            #expect(transfer.channel.receivedBytes == body.count)
            // The limit is the joined rest of one load plus the chunks of the next one.
            let load = (LibcurlSupport.largeBuffers.first?.bytes ?? 0) / 6
            #expect(most.load(ordering: .relaxed) <= 2 * load)
            loop.shutDown(within: .zero)
            await loop.end.wait()
        }
    }

    /// Data that a pause holds back arrives once, in its place: with few large pieces, with many small ones, and with
    /// both.
    @Test(arguments: [1, 100, 5_000, 16_384, 100_000, 3_000_000])
    func `each byte of many bodies at once comes once`(chunk: Int) async throws {
        let body = PatternBytes.make(count: chunk == 1 ? 100_000 : 3_000_000)
        try await withServer(.raw(chunked(body, by: chunk))) { server in
            let dispatcher = CurlNetworkDispatcher()
            let request = try request(server)
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        let response = try await dispatcher.send(request)
                        guard number.isMultiple(of: 2) else { return try await response.body.collect() == body }
                        var streamed = Data()
                        for try await piece in response.body { streamed += piece }
                        return streamed == body
                    }
                }
                for try await isWhole in group { #expect(isWhole) }
            }
        }
    }

    /// The rest of the body waits in libcurl while its call is cancelled, dropped, or over the limit.
    @Test func `bodies that yield may end in any way`() async throws {
        try await withServer(.raw(chunked(PatternBytes.make(count: 200_000), by: 1))) { server in
            let dispatcher = CurlNetworkDispatcher()
            let request = try request(server)
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<12 {
                    group.addTask {
                        let call = Task {
                            let response = try await dispatcher.send(request)
                            switch number % 3 {
                            case 0:
                                await expectFailure(.bodyTooLarge) {
                                    _ = try await response.body.collect(upTo: 100_000)
                                }
                            case 1: withExtendedLifetime(response) {}
                            default: _ = try await response.body.collect()
                            }
                        }
                        if number % 3 == 2 { call.cancel() }
                        let result = await call.result
                        if number % 3 == 2 {
                            #expect(throws: NetworkError.self) { try result.get() }
                        } else {
                            #expect(throws: Never.self) { try result.get() }
                        }
                    }
                }
            }
            let last = try await dispatcher.send(request).body.collect()
            #expect(last.count == 200_000)
        }
    }
}
