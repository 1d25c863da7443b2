extension ServerSentEvents {
    /// How a stream of events is kept up.
    public struct Options: Sendable {
        /// The id after which to begin; empty for now. Kept up to date by the stream itself.
        public var lastEventID = ""
        /// The time before a reconnection while the server names none (`retry:`). 3 s by default. It doubles with each
        /// failure in a row.
        public var reconnectionTime = Duration.seconds(3)
        /// The shortest time before a reconnection, whatever the server says. Half a second by default; without one, a
        /// server that asks for `retry: 0` would have as many connections as it can end.
        public var minimumReconnectionTime = Duration.milliseconds(500)
        /// The longest time before a reconnection, whatever the server says, and where it is shorter than the shortest.
        /// A minute by default.
        public var maximumReconnectionTime = Duration.seconds(60)
        /// How many connections in a row may fail or bring no event before the last failure is thrown. 10 by default;
        /// `nil` for no limit.
        public var maximumFailures: Int? = 10
        /// Whether a stream is connected again whatever the method of its request: a POST is then executed once more.
        /// Off by default, by which methods that are not idempotent are sent once (RFC 9110 §9.2.2).
        public var reconnectsAnyMethod = false
        /// The longest line, in bytes: 1 MiB by default. A longer one is ``NetworkError/Code/lineTooLong``.
        public var maximumLineBytes = 1 << 20
        /// The largest data of an event, in bytes: 8 MiB by default. Larger is ``NetworkError/Code/eventTooLarge``.
        public var maximumEventBytes = 8 << 20
        /// The pauses before reconnections, and the chance in them.
        public var time = TimeSource.system

        /// The defaults.
        public init() {}

        func check() throws {
            try OptionCheck.pause(reconnectionTime, "reconnectionTime")
            try OptionCheck.pause(minimumReconnectionTime, "minimumReconnectionTime")
            try OptionCheck.pause(maximumReconnectionTime, "maximumReconnectionTime")
            try OptionCheck.atLeast(0, maximumFailures ?? 0, "maximumFailures")
            try OptionCheck.atLeast(1, maximumLineBytes, "maximumLineBytes")
            try OptionCheck.atLeast(1, maximumEventBytes, "maximumEventBytes")
        }
    }
}
