extension ServerSentEvents {
    /// One event of a `text/event-stream`.
    public struct Event: Sendable, Hashable {
        /// The id of this event, or of the last event before it that had one; empty if there was none.
        public var id: String
        /// The event's type; `message` if it has none.
        public var type: String
        /// The event's data, with its lines joined by LF.
        public var data: String

        /// Creates an event.
        public init(id: String = "", type: String = "message", data: String) {
            self.id = id
            self.type = type
            self.data = data
        }
    }
}
