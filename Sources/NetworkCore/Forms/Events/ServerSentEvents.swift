import FoundationEssentials
import HTTPTypes

/// A sequence of server-sent events with automatic reconnection: the body of ``ResponseForm/events(_:)``.
///
/// ```swift
/// for try await event in try await client.send(request, as: .events).body { print(event.type, event.data) }
/// ```
///
/// The call returns when the first connection is open; iterate its events once. A connection that ends or breaks, the
/// first one included, and a status of 5xx are followed by another connection with `Last-Event-ID`. The failures that
/// count as a break are those that ``RetryInterceptor/Policy/codes`` holds by default. The sequence ends when the
/// server responds with 204, and when its task is cancelled, then with `CancellationError`. Any other status,
/// another content type than `text/event-stream`, and too many failures in a row
/// (``ServerSentEvents/Options/maximumFailures``) are errors, of the call or of the sequence.
///
/// A request whose method is not idempotent, such as POST, is sent once, unless
/// ``ServerSentEvents/Options/reconnectsAnyMethod`` is set. So is a request whose body can't be sent again. The
/// sequence then ends when the server ends the stream, and a connection that breaks is an error.
///
/// ``TransportOptions/totalTimeout`` does not apply, since a stream has no end of its own. A silence longer than
/// ``TransportOptions/idleTimeout`` counts as a broken connection, so this timeout should be longer than the interval
/// of the server's heartbeat. ``NetworkClient/validation`` does not apply either.
public struct ServerSentEvents: AsyncSequence, Sendable {
    /// One event of the stream.
    public typealias Element = Event

    private let connection: Connection

    fileprivate init(_ connection: Connection) { self.connection = connection }

    /// Returns an iterator that reads event by event.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(connection: connection, chunks: connection.arrival?.incoming.body.makeAsyncIterator())
    }

    /// An iterator over the events of one stream.
    public struct AsyncIterator: AsyncIteratorProtocol, SafelyPrinted {
        fileprivate var connection: Connection
        fileprivate var chunks: TransportResponse.Body.AsyncIterator?
        /// The events that are parsed and not returned yet, the last one first.
        private(set) var ready: [Event] = []
        /// The bytes that have arrived and are not parsed yet: a chunk may be as large as a whole body.
        private var unparsed = Data()
        private static let pieceBytes = 65_536
        private var isOver = false

        /// The id as of the last event that ``next()`` has returned, at which another stream could resume. Ids after it
        /// that came without an event take effect with the next call.
        public private(set) var lastEventID: String

        fileprivate init(connection: Connection, chunks: TransportResponse.Body.AsyncIterator?) {
            self.connection = connection
            self.chunks = chunks
            isOver = chunks == nil
            lastEventID = connection.parser.lastEventID
        }

        /// Returns the next event; `nil` at the end: after a 204, or after a stream that does not reconnect.
        /// - Throws: ``NetworkError``, once; `CancellationError` in a cancelled task.
        public mutating func next() async throws -> Event? {
            do {
                while ready.isEmpty {
                    if isOver { return nil }
                    // The reader has all events that were parsed so far.
                    lastEventID = connection.parser.lastEventID
                    try await step()
                }
                // Checked for each event: one chunk may hold thousands of them.
                try Task.checkCancellation()
            } catch {
                isOver = true
                // The caller may hold the response for a long time. A second reader is refused, and the exchange is the
                // first one's.
                if NetworkError.code(of: error) != .bodyAlreadyRead { await connection.arrival?.incoming.end() }
                (chunks, connection.arrival) = (nil, nil)
                (ready, unparsed) = ([], Data())
                throw NetworkError.thrown(error)
            }
            let event = ready.removeLast()
            lastEventID = event.id
            return event
        }

        private mutating func step() async throws {
            guard let arrival = connection.arrival, var chunks else {
                try await connection.open()
                chunks = connection.arrival?.incoming.body.makeAsyncIterator()
                isOver = chunks == nil
                return
            }
            // The events before the problem have been returned.
            if let problem = connection.parser.problem { throw arrival.naming(problem) }
            if unparsed.isEmpty {
                let chunk: Data?
                do { chunk = try await chunks.next() } catch let error as NetworkError where error.isConnectionLoss {
                    self.chunks = nil
                    return try await connection.lost(arrival.naming(error))
                }
                guard let chunk else {
                    self.chunks = nil
                    isOver = try await connection.ended() == .finish
                    return
                }
                self.chunks = chunks
                unparsed = chunk
            }
            ready = connection.take(unparsed.prefix(Self.pieceBytes))
            unparsed = unparsed.dropFirst(Self.pieceBytes)
        }
    }

    /// The connection of a stream of events, and the state that passes from one connection to the next.
    struct Connection: Sendable {
        private let prepared: PreparedCall
        private let options: Options
        private var reconnection: EventReconnection
        fileprivate private(set) var parser: Parser
        /// The response that is being read; `nil` before and after it, and once the server has ended the stream.
        fileprivate var arrival: Arrival?

        private init(_ prepared: PreparedCall, _ options: Options) {
            self.prepared = prepared
            self.options = options
            reconnection = EventReconnection(
                options,
                isReplayable: prepared.request.body?.isReplayable ?? true,
                isIdempotent: prepared.request.method.isIdempotent
            )
            let first = options.lastEventID.isEmpty ? prepared.request.headerFields[.lastEventID] : nil
            parser = Self.parser(after: first ?? options.lastEventID, options)
        }

        static func first(
            of prepared: PreparedCall, _ options: Options
        ) async throws -> NetworkResponse<ServerSentEvents> {
            var connection = Connection(prepared, options)
            let last = try await connection.open()
            return last.streamed(ServerSentEvents(connection))
        }

        /// Connects, again and again by the rules of reconnection, until there is a stream to read or the stream has
        /// ended.
        /// - Returns: The last response.
        @discardableResult
        mutating func open() async throws -> Arrival {
            while true {
                var request = prepared.request
                // A server may reset the id to none.
                request.headerFields[.lastEventID] =
                    parser.lastEventID.isEmpty
                    ? nil : try HTTPField(checking: "Last-Event-ID", value: parser.lastEventID).value
                let opened: Arrival
                do {
                    opened = try await prepared.arrival(of: request, in: NetworkClient.Call())
                } catch let error as NetworkError where error.isConnectionLoss {
                    try await lost(error)
                    continue
                }
                switch reconnection.opened(opened.head, jitter: jitter) {
                case .read:
                    // A partial event from a broken connection must not run into this one.
                    parser = Self.parser(after: parser.lastEventID, options)
                    arrival = opened
                    return opened
                case .finish:
                    arrival = nil
                    return opened
                case .refuse, .giveUp:
                    let refused = refusal(of: opened.head)
                    let refusal = opened.head.status.kind == .serverError ? afterAll(refused) : refused
                    try await opened.validate(by: .custom { _ in throw refusal })
                    throw refusal
                case .reconnect(let delay): try await options.time.sleep(delay, discarding: opened.incoming)
                }
            }
        }

        fileprivate mutating func take(_ chunk: Data) -> [Event] {
            var events = parser.events(in: chunk)
            for index in events.indices { events[index].decoder.value = prepared.client.decoder }
            if let time = parser.reconnectionDelay { reconnection.serverTime = time }
            if !events.isEmpty { reconnection.received() }
            return events.reversed()
        }

        /// Waits until the next connection is due, after the server ended the stream.
        fileprivate mutating func ended() async throws -> EventReconnection.Action {
            let ended = NetworkError(.connectionLost, "the server ended the stream of events", phase: .receiving)
            let failure = arrival?.naming(ended) ?? ended
            arrival = nil
            let action = reconnection.ended(jitter: jitter)
            if action != .finish { try await follow(action, failure) }
            return action
        }

        /// Waits until the next connection is due, after a connection that broke or was never made.
        fileprivate mutating func lost(_ failure: any Error) async throws {
            arrival = nil
            let action = reconnection.lost(jitter: jitter)
            try await follow(action, failure)
        }

        private func follow(_ action: EventReconnection.Action, _ failure: any Error) async throws {
            guard case .reconnect(let delay) = action else { throw afterAll(failure) }
            try await options.time.sleep(delay)
        }

        /// Returns the error with the number of connections that failed in a row, the last one included.
        private func afterAll(_ failure: any Error) -> any Error {
            guard reconnection.failures > 1, var error = failure as? NetworkError else { return failure }
            error.message += "; \(reconnection.failures) connections in a row failed (maximumFailures)"
            return error
        }

        private var jitter: Double { options.time.random() / 4 }

        private func refusal(of head: HTTPResponse) -> NetworkError {
            let type = head.headerFields[.contentType].map { MediaType.shown(MediaType($0)?.essence ?? $0) }
            return head.status == .ok
                ? NetworkError(
                    .unacceptableContentType,
                    "the content type is \(type ?? "not given"), and text/event-stream was expected",
                    phase: .decoding
                )
                : NetworkError(
                    .unacceptableStatus,
                    "the response to a request for events has the status \(head.status.code)",
                    phase: .decoding
                )
        }

        private static func parser(after id: String, _ options: Options) -> Parser {
            Parser(
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
