import Foundation
import NetworkCore
import Synchronization

/// A body that comes in pieces.
final class StubBody: ResponseBodySource {
    struct Content: Sendable {
        var chunks: [Data]
        var interval: Duration
        var failure: (any Error)?
    }

    private let content: Content
    private let limit: Int
    private let sleep: @Sendable (Duration) async throws -> Void
    private let taken = Guarded(0)
    private let isFailed = OneTimeFlag()

    init(_ content: Content, limit: Int, sleep: @escaping @Sendable (Duration) async throws -> Void) {
        self.content = content
        self.limit = limit
        self.sleep = sleep
    }

    func next() async throws -> Data? {
        let index = taken.withLock { taken in
            defer { taken += 1 }
            return taken
        }
        guard index < content.chunks.count else {
            if let failure = content.failure, isFailed.raise() { throw failure }
            return nil
        }
        try await sleep(content.interval)
        return content.chunks[index]
    }

    func collect(upTo limit: Int?) async throws -> Data {
        let limit = limit ?? self.limit
        var body = Data()
        while let chunk = try await next() {
            body += chunk
            guard body.count <= limit else { throw NetworkError.bodyTooLarge(limit: limit) }
        }
        return body
    }

    var metrics: TransportMetrics { TransportMetrics(total: .zero) }
    var trailers: HTTPFields? { nil }
}
