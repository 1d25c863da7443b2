import HTTPTypes

/// The rules for when a stream of events reconnects, and when it ends. Pure: each event returns an action.
struct EventReconnection: Sendable {
    private let options: ServerSentEvents.Options
    private let mayRepeat: Bool
    var serverTime: Duration?
    private(set) var failures = 0
    private var hasEvent = false

    init(_ options: ServerSentEvents.Options, isReplayable: Bool = true, isIdempotent: Bool = true) {
        self.options = options
        mayRepeat = isReplayable && (isIdempotent || options.reconnectsAnyMethod)
    }

    enum Action: Equatable {
        case read
        case finish
        case refuse
        case reconnect(after: Duration)
        case giveUp
    }

    mutating func opened(_ head: HTTPResponse, jitter: Double) -> Action {
        hasEvent = false
        return switch head.status.code {
        case 200:
            head.headerFields[.contentType].flatMap { MediaType($0) }?.essence == "text/event-stream" ? .read : .refuse
        case 204: .finish
        case 500...599: lost(jitter: jitter)
        default: .refuse
        }
    }

    mutating func received() { (failures, hasEvent) = (0, true) }

    /// Handles the end of a stream that the server ended. After an event, the end is not a failure.
    mutating func ended(jitter: Double) -> Action {
        guard mayRepeat else { return .finish }
        if hasEvent, options.maximumFailures == 0 { return .finish }
        if !hasEvent { failures += 1 }
        return next(jitter: jitter)
    }

    mutating func lost(jitter: Double) -> Action {
        guard mayRepeat else { return .giveUp }
        failures += 1
        return next(jitter: jitter)
    }

    private func next(jitter: Double) -> Action {
        if let most = options.maximumFailures, failures >= most { return .giveUp }
        let backOff = BackOff(
            first: max(serverTime ?? options.reconnectionDelay, options.minimumReconnectionDelay),
            limit: options.maximumReconnectionDelay
        )
        return .reconnect(after: backOff.delay(after: max(1, failures), jitter: failures > 1 ? jitter : 0))
    }
}
