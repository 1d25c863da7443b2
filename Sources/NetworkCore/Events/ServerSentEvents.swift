import FoundationEssentials
import HTTPTypes

/// A stream of server-sent events, connected again when it breaks.
///
/// ```swift
/// for try await event in try client.events(of: request) { print(event.type, event.data) }
/// ```
///
/// Each iteration is a stream of its own, and connects when its first event is asked for. A connection that ends or
/// breaks, and a status of 5xx, is followed by another one that asks with `Last-Event-ID`. The sequence ends when the
/// server answers 204 and when its task is cancelled, then with ``NetworkError/Code/cancelled``; any other status,
/// another content type than `text/event-stream`, and too many failures in a row (``EventOptions/maximumFailures``) are
/// errors.
///
/// A request whose method is not idempotent, such as POST, is sent once unless
/// ``EventOptions/reconnectsAnyMethod`` says otherwise, and so is one whose body can't be sent again: the sequence then
/// ends where the server ends the stream, and a connection that breaks is an error.
///
/// The client's ``TransportOptions/totalTimeout`` is not applied, since a stream has no end of its own. A silence that
/// is longer than ``TransportOptions/idleTimeout`` is a broken connection: it should be longer than the server's
/// heartbeat. The client's ``NetworkClient/validation`` is not asked.
public struct ServerSentEvents: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = ServerSentEvent

    let client: NetworkClient
    let request: TransportRequest
    let options: EventOptions

    /// A new stream.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    /// The events of one stream.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let events: ServerSentEvents
        private var reconnection: EventReconnection
        private var parser: ServerSentEventParser
        private var connection: (arrival: Arrival, chunks: ResponseBody.AsyncIterator)?
        private var ready: [ServerSentEvent] = []
        private var isOver = false

        /// The id of the last event that was read completely: where another stream would go on.
        public var lastEventID: String { parser.lastEventID }

        fileprivate init(_ events: ServerSentEvents) {
            self.events = events
            reconnection = EventReconnection(
                events.options,
                isReplayable: events.request.body?.isReplayable ?? true,
                isIdempotent: events.request.method.isIdempotent
            )
            parser = Self.parser(after: events.options.lastEventID, events.options)
        }

        /// The next event; `nil` when the server has ended the stream by 204.
        /// - Throws: ``NetworkError``, once.
        public mutating func next() async throws -> ServerSentEvent? {
            do {
                while ready.isEmpty {
                    if isOver { return nil }
                    try await step()
                }
                // One chunk may hold thousands of events.
                try Task.checkCancellation()
            } catch {
                isOver = true
                connection = nil
                ready = []
                throw error is CancellationError ? NetworkError.cancelled : error
            }
            return ready.removeLast()
        }

        /// Connects, or reads a chunk.
        private mutating func step() async throws {
            if case (let arrival, var chunks)? = connection {
                // The events before it were handed out.
                if let problem = parser.problem { throw arrival.naming(problem) }
                do {
                    guard let chunk = try await chunks.next() else {
                        connection = nil
                        let ended = NetworkError(
                            .connectionLost, "the server ended the stream of events", phase: .receiving)
                        return try await follow(reconnection.ended(jitter: jitter), arrival.naming(ended), arrival)
                    }
                    connection = (arrival, chunks)
                    take(chunk)
                } catch let error as NetworkError where error.isConnectionLoss {
                    connection = nil
                    try await follow(reconnection.lost(jitter: jitter), arrival.naming(error), arrival)
                }
            } else {
                try await connect()
            }
        }

        private mutating func take(_ chunk: Data) {
            let events = parser.events(in: chunk)
            if let time = parser.reconnectionTime { reconnection.serverTime = time }
            if !events.isEmpty { reconnection.received() }
            ready = events.reversed()
        }

        private mutating func connect() async throws {
            try events.options.check()
            var request = events.request
            if !parser.lastEventID.isEmpty {
                // The first one is the caller's.
                request.headerFields[.lastEventID] =
                    try HTTPField(checking: "Last-Event-ID", value: parser.lastEventID).value
            }
            let arrival: Arrival
            do {
                arrival = try await events.client.arrival(of: request, in: Call())
            } catch let error as NetworkError where error.isConnectionLoss {
                return try await follow(reconnection.lost(jitter: jitter), error, nil)
            }
            let action = reconnection.opened(arrival.head, jitter: jitter)
            let refusal: NetworkError =
                arrival.head.status == .ok
                ? NetworkError(
                    .unacceptableContentType,
                    "the content type is not text/event-stream",
                    phase: .decoding
                )
                : NetworkError(
                    .unacceptableStatus,
                    "the server answered \(arrival.head.status.code) to a request for events",
                    phase: .decoding
                )
            try await follow(action, refusal, arrival)
        }

        private mutating func follow(
            _ action: EventReconnection.Action,
            _ failure: any Error,
            _ arrival: Arrival?
        ) async throws {
            switch action {
            case .read:
                guard let arrival else { return }
                // Half an event that a broken connection has left is no part of this one.
                var fresh = Self.parser(after: parser.lastEventID, events.options)
                swap(&parser, &fresh)
                connection = (arrival, arrival.incoming.body.makeAsyncIterator())
            case .finish: isOver = true
            case .refuse:
                try await arrival?.validate(by: .custom { _ in throw failure })
                throw failure
            case .giveUp: throw arrival?.naming(failure) ?? failure
            case .reconnect(let delay): try await pause(delay, givingUp: arrival?.incoming)
            }
        }

        /// Waits, and meanwhile frees the connection of a response that is given up.
        private func pause(_ delay: Duration, givingUp response: TransportResponse?) async throws {
            async let drained: Void? = response?.drain()
            try await events.options.time.sleep(delay)
            await drained
        }

        private var jitter: Double { events.options.time.random() / 4 }

        private static func parser(after id: String, _ options: EventOptions) -> ServerSentEventParser {
            ServerSentEventParser(
                lastEventID: id,
                maximumLineBytes: options.maximumLineBytes,
                maximumEventBytes: options.maximumEventBytes
            )
        }
    }
}

extension HTTPField.Name {
    fileprivate static let lastEventID = Self("Last-Event-ID")!
}

extension NetworkClient {
    /// A stream of server-sent events, connected again when it breaks; see ``ServerSentEvents``.
    /// - Parameters:
    ///   - request: What to ask. `Accept: text/event-stream` and `Cache-Control: no-cache` go along unless it has its
    ///     own.
    ///   - options: How the stream is kept up.
    /// - Throws: ``NetworkError`` for a request that can't be sent, and for options out of range.
    public func events(
        of request: some RequestConvertible,
        options: EventOptions = EventOptions()
    ) throws -> ServerSentEvents {
        try options.check()
        return events(of: try request.data.transportRequest(options: self.options), options: options)
    }

    /// The same for a request that is complete already; its own options count, not the client's. Event options that are
    /// out of range are thrown by the stream.
    public func events(of request: TransportRequest, options: EventOptions = EventOptions()) -> ServerSentEvents {
        var request = request
        request.options.totalTimeout = nil
        if !request.headerFields.contains(.accept) { request.headerFields[.accept] = "text/event-stream" }
        if !request.headerFields.contains(.cacheControl) { request.headerFields[.cacheControl] = "no-cache" }
        return ServerSentEvents(client: self, request: request, options: options)
    }
}
