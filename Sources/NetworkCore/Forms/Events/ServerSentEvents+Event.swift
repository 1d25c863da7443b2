import FoundationEssentials
import HTTPTypes

extension ServerSentEvents {
    /// One event of a `text/event-stream`.
    public struct Event: Sendable, Hashable, SafelyPrinted {
        /// The id of this event, or of the last event before it that had one; empty if there was none.
        public var id: String
        /// The event's type; `message` if it has none.
        public var type: String
        /// The event's data, with its lines joined by LF.
        public var data: String
        var decoder = CarriedDecoder()

        /// Creates an event.
        public init(id: String = "", type: String = "message", data: String) {
            self.id = id
            self.type = type
            self.data = data
        }

        /// Returns the data as a value:
        ///
        /// ```swift
        /// for try await event in events where event.type == "price" { show(try event.decoded(as: Price.self)) }
        /// ```
        ///
        /// - Parameters:
        ///   - type: The type of the value.
        ///   - decoder: The decoder. Default: `nil`, for ``NetworkClient/decoder`` of the client that received the
        ///     event; JSON for an event of your own.
        /// - Throws: ``NetworkError`` with ``NetworkError/Code/decodingFailed``. The stream stays usable.
        public func decoded<Value: Decodable & SendableMetatype>(
            as type: Value.Type, by decoder: (any ResponseDecoder)? = nil
        ) throws -> sending Value {
            let bytes = Data(data.utf8)
            do {
                let decoder = decoder ?? self.decoder.value ?? .json
                return try decoder.decode(type, from: bytes, of: HTTPResponse(status: .ok))
            } catch let error as NetworkError {
                throw error
            } catch {
                throw NetworkError.decodingFailed(type, bytes, error, at: "the event's data")
            }
        }

        /// The length of the data.
        public var description: String { "an event of \(data.utf8.count) byte\(data.utf8.count == 1 ? "" : "s")" }
    }

    /// A decoder that comes with a value and is no part of it.
    struct CarriedDecoder: Sendable, Hashable {
        var value: (any ResponseDecoder)?

        static func == (_: Self, _: Self) -> Bool { true }
        func hash(into _: inout Hasher) {}
    }

    /// The options for a stream of events and its reconnections. A pause is at most a year, and a limit in bytes at
    /// least 1; any other value is ``NetworkError/Code/invalidOption``.
    public struct Options: Sendable, SafelyPrinted {
        /// The id of the event to begin after. Default: empty, which begins with new events. The stream itself keeps
        /// the current id.
        public var lastEventID = ""
        /// The pause before a reconnection, unless the server sets one (`retry:`). Default: 3 s. It doubles with each
        /// failure in a row.
        public var reconnectionDelay = Duration.seconds(3)
        /// The shortest pause before a reconnection, whatever the server sets. Default: 500 ms. Without it, a server
        /// that sends `retry: 0` would get as many connections as it can end.
        public var minimumReconnectionDelay = Duration.milliseconds(500)
        /// The longest pause before a reconnection, whatever the server sets. It also overrides a longer
        /// ``minimumReconnectionDelay``. Default: 60 s.
        public var maximumReconnectionDelay = Duration.seconds(60)
        /// The limit on connections in a row that fail or bring no event: the last of them is followed by no other,
        /// and its failure is thrown. Default: 10; 0 for no reconnection, `nil` for no limit.
        public var maximumFailures: Int? = 10
        /// Whether a stream reconnects whatever the method of its request, which executes a POST once more. Default:
        /// `false`, so that requests with methods that are not idempotent are sent once
        /// ([RFC 9110 §9.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-9.2.2)).
        public var reconnectsAnyMethod = false
        /// The limit on a line, in bytes. Default: 1 MiB. A longer line is ``NetworkError/Code/lineTooLong``.
        public var maximumLineBytes = 1 << 20
        /// The limit on the data of an event, in bytes. Default: 8 MiB. More data is
        /// ``NetworkError/Code/eventTooLarge``.
        public var maximumEventBytes = 8 << 20
        /// The source of the pauses before reconnections and of their random part.
        public var time = TimeSource.system

        /// Creates options with the defaults.
        public init() {}

        func check() throws {
            try OptionCheck.pause(reconnectionDelay, "reconnectionDelay")
            try OptionCheck.pause(minimumReconnectionDelay, "minimumReconnectionDelay")
            try OptionCheck.pause(maximumReconnectionDelay, "maximumReconnectionDelay")
            try OptionCheck.atLeast(0, maximumFailures ?? 0, "maximumFailures")
            try OptionCheck.atLeast(1, maximumLineBytes, "maximumLineBytes")
            try OptionCheck.atLeast(1, maximumEventBytes, "maximumEventBytes")
        }

        /// The pauses and limits, and whether there is an id to begin after.
        public var description: String {
            let pauses = "after \(reconnectionDelay), \(minimumReconnectionDelay) to \(maximumReconnectionDelay)"
            let failures = maximumFailures.map { "\($0)" } ?? "any number of"
            return "reconnects \(pauses), \(failures) failures, lines of \(maximumLineBytes) bytes, "
                + "events of \(maximumEventBytes) bytes\(reconnectsAnyMethod ? ", any method" : "")"
                + (lastEventID.isEmpty ? "" : ", begins after an event")
        }
    }
}
