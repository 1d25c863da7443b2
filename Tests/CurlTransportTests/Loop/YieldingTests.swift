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

    /// Regression: one call of libcurl took a hundred buffer loads, each of 87,000 such chunks.
    @Test func `a round of the loop takes a bounded part of a body`() async throws {
        let body = PatternBytes.make(count: 500_000)
        try await withServer(.raw(chunked(body, by: 1))) { server in
            let loop = try CurlLoop(limits: LoopLimits())
            let transfer = try Transfer(try makeRequest(server.url()), over: loop)
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
            let request = try makeRequest(server.url())
            let areWhole = try await atOnce(8) { number in
                let response = try await dispatcher.send(request)
                guard number.isMultiple(of: 2) else { return try await response.body.collect() == body }
                var streamed = Data()
                for try await piece in response.body { streamed += piece }
                return streamed == body
            }
            #expect(areWhole.allSatisfy { $0 })
        }
    }

    /// The rest of the body waits in libcurl while its call is cancelled, dropped, or over the limit.
    @Test func `bodies that yield may end in any way`() async throws {
        try await withServer(.raw(chunked(PatternBytes.make(count: 200_000), by: 1))) { server in
            let dispatcher = CurlNetworkDispatcher()
            let request = try makeRequest(server.url())
            _ = try await atOnce(12) { number in
                let call = Task {
                    let response = try await dispatcher.send(request)
                    switch number % 3 {
                    case 0: await expectFailure(.bodyTooLarge) { try await response.body.collect(upTo: 100_000) }
                    case 1: withExtendedLifetime(response) {}
                    default: _ = try await response.body.collect()
                    }
                }
                guard number % 3 == 2 else { return try await call.value }
                call.cancel()
                await #expect(throws: NetworkError.self) { try await call.value }
            }
            let last = try await dispatcher.send(request).body.collect()
            #expect(last.count == 200_000)
        }
    }
}

@Suite("The share of data that one call may deliver")
struct CallShareTests {
    /// Counts chunks until one has to wait.
    private func pieces(
        _ share: inout CallShare, of bytes: Int, buffer: Int = 0, at place: (Int) -> Int = { _ in 0 }
    ) -> Int {
        var count = 0
        while !share.isSpent(by: bytes, at: place(count), of: buffer) { count += 1 }
        return count
    }

    @Test func `small pieces are counted`() {
        var share = CallShare()
        let small = pieces(&share, of: 1)
        #expect(small == 512)
        // A spent share stays spent.
        let waits = share.isSpent(by: 100_000, at: 0, of: 0)
        #expect(waits)
    }

    /// The first chunks never wait, however long they take: a call that delivers nothing would not advance its
    /// transfer.
    @Test func `the first pieces of a call never wait`() {
        for bytes in [1, 1_000, 16_384] {
            var share = CallShare()
            for _ in 0..<32 {
                let waits = share.isSpent(by: bytes, at: 0, of: 0)
                #expect(!waits)
            }
        }
    }

    /// The last chunk of a buffer is the one that waits, since libcurl copies the data that follows it.
    @Test func `large pieces end a load by time`() {
        let (base, piece, load) = (1 << 20, 16_384, 1 << 19)
        var share = CallShare()
        let count = pieces(&share, of: piece, buffer: load) { base + $0 * piece % load }
        #expect((count + 1) % (load / piece) == 0)
    }

    @Test func `a short piece is the last of its load`() {
        var share = CallShare()
        _ = pieces(&share, of: 1_000)
        #expect(share.isSpent)
    }

    /// A record decoder delivers each record from the same address.
    @Test func `where no load ends, a few more pieces come`() {
        var share = CallShare()
        let count = pieces(&share, of: 16_384, buffer: 1 << 19) { _ in 4_096 }
        #expect(count % 32 == 31)
    }

    @Test func `transfers over TLS begin fewer at once where they take long`() {
        var pace = BeginningPace()
        let start = MonotonicTime(nanoseconds: 0)
        func call(_ begun: Int, milliseconds: Int) {
            pace.note(begun, from: start, to: start.adding(milliseconds: milliseconds))
        }
        #expect(pace.count == 4)
        for expected in [8, 16, 16] {
            call(pace.count, milliseconds: 1)
            #expect(pace.count == expected)
        }
        for expected in [8, 4, 4] {
            call(pace.count, milliseconds: 20)
            #expect(pace.count == expected)
        }
        // A round that begins fewer transfers than allowed says nothing about the pace.
        call(2, milliseconds: 0)
        #expect(pace.count == 4)
    }
}
