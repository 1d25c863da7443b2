package import FoundationEssentials

extension TransportResponse {
    /// Returns the response with a witness of its body: a closure that sees what the reader receives, and changes
    /// nothing of it.
    package func witnessed(by see: @escaping @Sendable (BodyEvent) -> Void) -> TransportResponse {
        var response = self
        response.body = Body(
            source: WitnessedBody(body.source, see), record: body.record, isOfTransport: body.isOfTransport)
        return response
    }

    package enum BodyEvent: Sendable {
        /// The reader received bytes: a chunk, or the whole body if it was collected.
        case bytes(Data)
        /// The reader has received the whole body.
        case end
        /// The reader received an error in place of the rest.
        case failure(any Error)
        /// The body was released before its end.
        case release
    }
}

private final class WitnessedBody: TransportResponse.BodySource {
    private let source: any TransportResponse.BodySource
    private let see: @Sendable (TransportResponse.BodyEvent) -> Void
    private let isOver = OneTimeFlag()

    init(
        _ source: any TransportResponse.BodySource, _ see: @escaping @Sendable (TransportResponse.BodyEvent) -> Void
    ) {
        (self.source, self.see) = (source, see)
    }

    deinit { finish(.release) }

    func next() async throws -> Data? {
        let chunk: Data?
        do {
            chunk = try await source.next()
        } catch {
            finish(.failure(error))
            throw error
        }
        if let chunk, !isOver.isRaised { see(.bytes(chunk)) } else { finish(.end) }
        return chunk
    }

    func collect(upTo limit: Int?) async throws -> Data {
        let bytes: Data
        do {
            bytes = try await source.collect(upTo: limit)
        } catch {
            finish(.failure(error))
            throw error
        }
        if !bytes.isEmpty, !isOver.isRaised { see(.bytes(bytes)) }
        finish(.end)
        return bytes
    }

    private func finish(_ event: TransportResponse.BodyEvent) {
        if isOver.raise() { see(event) }
    }

    var metrics: TransportMetrics { source.metrics }
    var trailers: HTTPFields? { source.trailers }
}
