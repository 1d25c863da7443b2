import FoundationEssentials
import NetworkCore
import Synchronization

/// The body of a replayed response, which arrives in the recorded chunks.
final class ReplayBody: TransportResponse.BodySource {
    private struct Chunk: Sendable {
        let bytes: Data
        let time: Duration
    }

    private let chunks: [Chunk]
    private let ending: NetworkError?
    private let endTime: Duration
    private let recordedTrailers: HTTPFields?
    private let request: TransportRequest
    private let time: ReplayTime
    private let taken = Guarded(0)
    private let isOver = OneTimeFlag()

    let metrics: TransportMetrics

    init(
        _ response: Recording.Response, of entry: Recording.Entry, request: TransportRequest, time: ReplayTime,
        _ timing: ReplayTransport.Timing
    ) {
        let last = response.chunks.last?.time ?? max(response.headTime ?? .zero, entry.metrics.total)
        chunks = Self.chunks(of: response, at: timing, lastTime: last)
        ending = entry.failure?.error ?? Self.missing(response.body, of: entry)
        endTime = timing == .none ? .zero : entry.failure?.time ?? .zero
        recordedTrailers = response.trailers
        metrics = entry.metrics
        self.request = request
        self.time = time
    }

    /// Returns the chunks. What secrets took or marks added is in the last one.
    private static func chunks(
        of response: Recording.Response, at timing: ReplayTransport.Timing, lastTime: Duration
    ) -> [Chunk] {
        var (rest, chunks) = (response.body.bytes, [Chunk]())
        for (index, chunk) in response.chunks.enumerated() where !rest.isEmpty {
            let isLast = index == response.chunks.count - 1 && response.body.omitted == 0
            let bytes = isLast ? rest : rest.prefix(max(0, chunk.count))
            rest = rest.dropFirst(bytes.count)
            if !bytes.isEmpty { chunks.append(Chunk(bytes: Data(bytes), time: timing == .none ? .zero : chunk.time)) }
        }
        if !rest.isEmpty { chunks.append(Chunk(bytes: Data(rest), time: timing == .none ? .zero : lastTime)) }
        return chunks
    }

    /// Returns the error for the part of a body that is not in the recording.
    private static func missing(_ body: Recording.Body, of entry: Recording.Entry) -> NetworkError? {
        if body.isLeftOut, entry.redacted.contains(.responseBody) {
            return NetworkError(
                .notRecorded,
                "the response's body (\(body.omitted) bytes) was not recorded, because it has no structure in which "
                    + "secrets are found; record it with RecordingTransport.Options(bodies: .all)",
                phase: .receiving)
        }
        if body.omitted > 0 {
            return NetworkError(
                .notRecorded, "\(body.omitted) bytes of the response's body were not recorded", phase: .receiving)
        }
        guard entry.isIncomplete else { return nil }
        return NetworkError(
            .notRecorded, "the response was released before the end of its body when it was recorded",
            phase: .receiving)
    }

    func next() async throws -> Data? {
        let index = taken.withLock { taken in
            defer { taken += 1 }
            return taken
        }
        guard !isOver.isRaised else { return nil }
        do {
            guard index < chunks.count else {
                guard let ending else {
                    _ = isOver.raise()
                    return nil
                }
                try await time.wait(until: endTime, for: .body)
                throw ending
            }
            try await time.wait(until: chunks[index].time, for: .body)
        } catch {
            guard isOver.raise() else { return nil }
            throw (error as? NetworkError)?.during(request, transport: "replay", elapsed: time.elapsed) ?? error
        }
        return chunks[index].bytes
    }

    func collect(upTo limit: Int?) async throws -> Data {
        let limit = limit ?? request.options.maximumBodyBytes
        var body = Data()
        while let chunk = try await next() {
            body += chunk
            guard body.count <= limit else {
                _ = isOver.raise()
                throw NetworkError.bodyTooLarge(limit: limit)
            }
        }
        return body
    }

    var trailers: HTTPFields? { isOver.isRaised ? recordedTrailers : nil }
}
