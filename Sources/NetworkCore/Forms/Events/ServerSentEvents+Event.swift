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
        /// The decoder of the client that received the event.
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
}
