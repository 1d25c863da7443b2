import FoundationEssentials
import NetworkCore
import Synchronization

/// What is recorded of one exchange while it goes on.
final class ExchangeRecord: Sendable {
    private struct State: Sendable {
        /// What the transport took of a streamed body in its newest reading.
        var requestBody: PassingBody?
        var head: HTTPResponse?
        var headTime: Duration?
    }

    /// The request without a streamed body. The request itself would keep a large body in memory.
    private let request: Recording.Request
    private let secretFields: Set<HTTPField.Name>
    private let started = Date()
    private let transport: String
    private let options: RecordingTransport.Options
    private let sink: any EntrySink
    private let elapsed: @Sendable () -> Duration
    private let responseBody: PassingBody
    private let state = Guarded(State())
    private let isOver = OneTimeFlag()

    init(
        _ request: TransportRequest, over transport: String, to sink: any EntrySink,
        _ options: RecordingTransport.Options
    ) {
        self.request = Recording.Request(request, maximumBodyBytes: options.maximumBodyBytes)
        secretFields = request.options.secretFields
        self.transport = transport
        self.options = options
        self.sink = sink
        elapsed = options.clock.stopwatch()
        responseBody = PassingBody(limit: options.maximumBodyBytes)
    }

    /// Returns the request with a witness of its body. Bytes in memory need none.
    func witnessed(_ request: TransportRequest) -> TransportRequest {
        guard let body = request.body, body.bytes == nil else { return request }
        var request = request
        request.body = body.witnessed { [self] in
            // The body may be sent again, from its start, while the reading before still delivers a chunk.
            let sent = PassingBody(limit: options.maximumBodyBytes)
            state.withLock { $0.requestBody = sent }
            return { [elapsed] piece in sent.append(piece, at: elapsed()) }
        }
        return request
    }

    /// Returns the response with a witness of its body.
    func witnessed(_ response: TransportResponse) -> TransportResponse {
        let (head, time) = (response.head, elapsed())
        state.withLock { ($0.head, $0.headTime) = (head, time) }
        return response.witnessed { [self] event in
            switch event {
            case .bytes(let bytes): responseBody.append(bytes, at: elapsed())
            case .end: finish(response)
            case .failure(let error): finish(response, error)
            case .release: finish(response, isReleased: true)
            }
        }
    }

    /// Records that no response came.
    func fail(_ error: any Error) { finish(nil, error) }

    private func finish(_ response: TransportResponse?, _ error: (any Error)? = nil, isReleased: Bool = false) {
        guard isOver.raise() else { return }
        let (state, time) = (state.withLock { $0 }, elapsed())
        var entry = Recording.Entry(
            started: started, request: request, metrics: response?.metrics ?? TransportMetrics(total: time),
            transport: transport)
        if let sent = state.requestBody?.record.body {
            // The rest of a known length was not taken.
            entry.request.body = sent
            entry.request.body?.omitted = max(sent.count, request.body?.omitted ?? 0) - sent.bytes.count
        }
        let received = responseBody.record
        entry.response = state.head.map { head in
            Recording.Response(
                head, body: received.body, chunks: received.chunks,
                trailers: response?.body.trailers, headTime: state.headTime)
        }
        entry.failure = error.map { Recording.Failure($0, time: time) }
        entry.isIncomplete = isReleased
        let (secretFields, options) = (secretFields, options)
        sink.add(size: entry.approximateSize) { [entry] in
            var shown = entry
            shown.redactSecrets(in: secretFields, bodies: options.bodies)
            options.redact?(&shown)
            return shown
        }
    }
}

/// The start of a body that passes by, and its chunks.
final class PassingBody: Sendable {
    private struct State: Sendable {
        var bytes = Data()
        var count = 0
        var chunks: [Recording.Chunk] = []
    }

    private let limit: Int
    private let state = Guarded(State())

    /// - Parameter limit: The maximum number of bytes to keep.
    init(limit: Int) { self.limit = max(0, limit) }

    func append(_ chunk: Data, at time: Duration) {
        state.withLock { state in
            state.count += chunk.count
            let room = limit - state.bytes.count
            if room > 0 { state.bytes.append(room < chunk.count ? chunk.prefix(room) : chunk) }
            if state.chunks.count < Recording.maximumChunks {
                state.chunks.append(Recording.Chunk(time: time, count: chunk.count))
            } else {
                state.chunks[state.chunks.count - 1].count += chunk.count
            }
        }
    }

    /// What has passed so far.
    var record: (body: Recording.Body, chunks: [Recording.Chunk]) {
        state.withLock { (Recording.Body($0.bytes, omitted: $0.count - $0.bytes.count), $0.chunks) }
    }
}
