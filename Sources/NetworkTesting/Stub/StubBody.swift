import Foundation
import NetworkCore
import Synchronization

/// The body of a stubbed response, which arrives in chunks.
final class StubBody: TransportResponse.BodySource {
    struct Content: Sendable {
        var chunks: [Data]
        var interval: Duration
        var failure: (any Error)?
    }

    private let content: Content
    private let request: TransportRequest
    private let time: StubTime
    private let taken = Guarded(0)
    private let isFailed = OneTimeFlag()

    init(_ content: Content, of request: TransportRequest, time: StubTime) {
        self.content = content
        self.request = request
        self.time = time
    }

    func next() async throws -> Data? {
        let index = taken.withLock { taken in
            defer { taken += 1 }
            return taken
        }
        guard index < content.chunks.count, !isFailed.isRaised else {
            if let failure = content.failure, isFailed.raise() { throw failure }
            return nil
        }
        do {
            try await time.wait(content.interval, for: .body)
        } catch {
            _ = isFailed.raise()
            throw (error as? NetworkError)?.during(request, transport: "stub", elapsed: time.elapsed) ?? error
        }
        return content.chunks[index]
    }

    func collect(upTo limit: Int?) async throws -> Data {
        let limit = limit ?? request.options.maximumBodyBytes
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
