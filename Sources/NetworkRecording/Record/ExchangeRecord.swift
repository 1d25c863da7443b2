import FoundationEssentials
import NetworkCore
import Synchronization

/// What is recorded of one exchange while it goes on.
final class ExchangeRecord: Sendable {
    /// How an exchange ended.
    enum End: Sendable { case complete, failed(any Error), released }

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

    /// Returns the request with a witness of its body. Bytes in memory need none, and would lose their known length in
    /// compression.
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
            case .end: finish(.complete, response)
            case .failure(let error): finish(.failed(error), response)
            case .release: finish(.released, response)
            }
        }
    }

    /// Records that no response came.
    func fail(_ error: any Error) { finish(.failed(error), nil) }

    private func finish(_ end: End, _ response: TransportResponse?) {
        guard isOver.raise() else { return }
        let (state, time) = (state.withLock { $0 }, elapsed())
        var entry = Recording.Entry(
            started: started, request: request, metrics: response?.metrics ?? TransportMetrics(total: time),
            transport: transport)
        if let sent = state.requestBody { entry.request.body = body(sent.record.body) }
        let received = responseBody.record
        entry.response = state.head.map { head in
            Recording.Response(
                head, body: received.body, chunks: received.chunks,
                trailers: response?.body.trailers, headTime: state.headTime)
        }
        switch end {
        case .complete: break
        case .failed(let error): entry.failure = Recording.Failure(error, time: time)
        case .released: entry.isIncomplete = true
        }
        let (secretFields, options) = (secretFields, options)
        sink.add(size: entry.approximateSize) { [entry] in
            var shown = entry
            shown.redactSecrets(in: secretFields, bodies: options.bodies)
            options.redact?(&shown)
            return shown
        }
    }

    /// Returns what the transport took of a streamed body, with the rest of its length as omitted.
    private func body(_ sent: Recording.Body) -> Recording.Body {
        var body = sent
        let length = request.body?.omitted ?? 0
        if length > body.count { body.omitted = length - body.bytes.count }
        return body
    }
}

extension Clock where Duration == Swift.Duration {
    /// Returns a closure that returns the time since now.
    func stopwatch() -> @Sendable () -> Duration {
        let start = now
        return { start.duration(to: now) }
    }
}
