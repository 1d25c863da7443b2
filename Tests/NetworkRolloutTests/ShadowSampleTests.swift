import Foundation
import NetworkLayer
import NetworkTesting
import Synchronization
import TestSupport
import Testing

@testable import NetworkRollout

/// Which requests have a shadow.
@Suite(.patience(minutes: 1))
struct ShadowSampleTests: ShadowSuite {
    let differences = Differences()

    @Test func `only safe methods and bodies in memory have a shadow`() async throws {
        let shadow = StubTransport(always: .text("x"))
        var options = always
        let transport = shadowed(by: shadow, options)
        for method in [HTTPRequest.Method.post, .put, .patch, .delete] {
            _ = try await transport.send(TransportRequest(method: method, url: url)).body.collect()
        }
        #expect(shadow.sent.isEmpty && transport.counts.requests == 4 && transport.counts.shadowed == 0)
        options.methods = [.post]
        let posting = shadowed(by: shadow, options)
        let once = AsyncStream { stream in
            stream.yield(Data("once".utf8))
            stream.finish()
        }
        let twice = TransportRequest.Body.bytes(Data("twice".utf8))
        let file = try TransportRequest.Body.file(#filePath)
        let bodies: [TransportRequest.Body] = [.stream(once), file, twice.reportingProgress { _ in }, twice]
        for body in bodies {
            _ = try await posting.send(TransportRequest(method: .post, url: url, body: body)).body.collect()
        }
        await posting.settle()
        #expect(shadow.sent.map(\.text) == ["twice"])
        #expect(posting.counts.skipped == 3 && posting.counts.shadowed == 1)
    }

    /// Regression: the shadow rewound the source of a body that the primary was still sending.
    @Test func `a body that the primary still reads has no shadow`() async throws {
        var options = always
        options.methods = [.post]
        let (source, sent) = (SharedSource(), SharedSource())
        let body = TransportRequest.Body.replayableStream {
            source.pieces.withLock { $0 = ["a", "b", "c"] }
            return AsyncStream<Data>(unfolding: { source.next() })
        }
        let (isReading, mayGoOn, uploads) = (Gate(), Gate(), AsyncStream<Task<Void, any Error>>.makeStream())
        let primary = ClosureTransport { request in
            let sending = try #require(request.body)
            let upload = Task {
                try await sending.read { piece in
                    sent.pieces.withLock { $0.append(String(decoding: piece, as: UTF8.self)) }
                    isReading.open()
                    try await mayGoOn.wait()
                }
            }
            uploads.continuation.yield(upload)
            // The head comes while the body is sent.
            try await isReading.wait()
            return TransportResponse(head: HTTPResponse(status: .ok), body: .init(Data("x".utf8)))
        }
        let shadow = StubTransport(always: .text("x"))
        let transport = transport(primary, shadow, options)
        try await transport.settled(TransportRequest(method: .post, url: url, body: body))
        mayGoOn.open()
        let upload = try #require(await uploads.stream.first { _ in true })
        try await upload.value
        #expect(sent.pieces.withLock { $0 } == ["a", "b", "c"])
        #expect(shadow.sent.isEmpty && transport.counts.skipped == 1 && transport.counts.shadowed == 0)
    }

    @Test func `a share of the requests has a shadow`() async throws {
        var options = always
        options.share = 0.1
        options.maximumConcurrent = .max
        let shadow = StubTransport(always: .text("x"))
        let transport = shadowed(by: shadow, options)
        for _ in 0..<5_000 { _ = try await transport.send(TransportRequest(url: url)).body.collect() }
        await transport.settle()
        // Six standard deviations.
        #expect((373...627).contains(shadow.sent.count), "\(shadow.sent.count)")
        #expect(transport.counts.requests == 5_000 && transport.counts.same == shadow.sent.count)
        options.share = 0
        let none = shadowed(by: shadow, options)
        for _ in 0..<1_000 { _ = try await none.send(TransportRequest(url: url)) }
        #expect(none.counts.shadowed == 0)
    }

    @Test func `more than the limit at the same time go without`() async throws {
        var options = always
        options.maximumConcurrent = 2
        let open = Gate()
        let shadow = ClosureTransport { _ in
            try await open.wait()
            return TransportResponse(head: HTTPResponse(status: .ok), body: .init(Data("x".utf8)))
        }
        let transport = shadowed(by: shadow, options)
        for _ in 0..<5 { _ = try await transport.send(TransportRequest(url: url)).body.collect() }
        #expect(transport.counts.shadowed == 2 && transport.counts.skipped == 3)
        open.open()
        await transport.settle()
        #expect(transport.counts.same == 2)
    }

    @Test func `what the shadow can't send is counted`() async throws {
        let transport = shadowed(by: StubTransport(lacking: [.bodyOnGet]))
        let request = TransportRequest(url: url, body: .bytes(Data("x".utf8)))
        try await transport.settled(request)
        #expect(transport.counts.unsupported == 1 && transport.counts.shadowed == 0)
    }
}

/// The pieces of a body that each reading rewinds.
private final class SharedSource: Sendable {
    let pieces = Guarded<[String]>([])

    func next() -> Data? { pieces.withLock { $0.isEmpty ? nil : Data($0.removeFirst().utf8) } }
}
