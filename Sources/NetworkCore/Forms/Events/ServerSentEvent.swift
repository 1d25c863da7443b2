extension ServerSentEvents {
    /// One event of a `text/event-stream`.
    public struct Event: Sendable, Hashable {
        /// The id of this event, or of the last one before it that had one; empty if there was none.
        public var id: String
        /// Its type; `message` if it names none.
        public var type: String
        /// Its data, lines joined by LF.
        public var data: String

        /// An event.
        public init(id: String = "", type: String = "message", data: String) {
            self.id = id
            self.type = type
            self.data = data
        }
    }
}
