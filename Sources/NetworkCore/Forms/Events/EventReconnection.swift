import HTTPTypes

/// When a stream of events is connected again, and when it is over. Pure: each event returns what to do.
struct EventReconnection: Sendable {
    private let options: ServerSentEvents.Options
    /// Whether the request may be sent once more.
    private let mayRepeat: Bool
    /// The server's own time, once it has named one.
    var serverTime: Duration?
    /// Connections in a row that failed or brought nothing.
    private(set) var failures = 0

    init(_ options: ServerSentEvents.Options, isReplayable: Bool = true, isIdempotent: Bool = true) {
        self.options = options
        mayRepeat = isReplayable && (isIdempotent || options.reconnectsAnyMethod)
    }

    /// What to do next.
    enum Action: Equatable {
        case read
        case finish
        case refuse
        case reconnect(after: Duration)
        case giveUp
    }

    /// A head has arrived.
    mutating func opened(_ head: HTTPResponse, jitter: Double) -> Action {
        switch head.status.code {
        case 200:
            head.headerFields[.contentType].flatMap { MediaType($0) }?.essence == "text/event-stream" ? .read : .refuse
        case 204: .finish
        case 500...599: lost(jitter: jitter)
        default: .refuse
        }
    }

    /// An event has arrived.
    mutating func received() { failures = 0 }

    /// The server has ended the stream in order.
    mutating func ended(jitter: Double) -> Action { mayRepeat ? lost(jitter: jitter) : .finish }

    /// The stream was cut, or never began.
    mutating func lost(jitter: Double) -> Action {
        guard mayRepeat else { return .giveUp }
        failures += 1
        if let most = options.maximumFailures, failures > most { return .giveUp }
        let backOff = BackOff(
            first: max(serverTime ?? options.reconnectionTime, options.minimumReconnectionTime),
            limit: options.maximumReconnectionTime
        )
        return .reconnect(after: backOff.delay(after: failures, jitter: failures > 1 ? jitter : 0))
    }
}
