extension TransportOptions {
    /// How fast bytes may go, and how slow they must not. Not for URLSession.
    public struct Rate: Sendable, Hashable {
        /// The most bytes a second to receive, on average (CURLOPT_MAX_RECV_SPEED_LARGE). Up to two seconds' worth may
        /// come at once, or 1 KiB, with libcurl 7.88 to 8.1 100 KiB, if that is more. Below 8.2 such a request goes
        /// over HTTP/1.1, unless HTTP/2 is spoken by prior knowledge, which then has a connection of its own. No limit
        /// by default.
        public var maximumReceived: Int?
        /// The most bytes a second to send, on average (CURLOPT_MAX_SEND_SPEED_LARGE). No limit by default.
        public var maximumSent: Int?
        /// What is too slow. Nothing by default.
        public var lowSpeed: LowSpeed?

        /// The defaults: no limits.
        public init() {}

        /// Fewer bytes a second than a bound, for a given time (CURLOPT_LOW_SPEED_LIMIT, LOW_SPEED_TIME) end the
        /// exchange with ``NetworkError/Code/lowSpeed``. Below libcurl 8.18 the time counts on while a slow reader
        /// holds the body back.
        public struct LowSpeed: Sendable, Hashable {
            /// The speed in bytes a second, both directions together; at least 1.
            public var bytesPerSecond: Int
            /// How long it may be lower, in whole seconds; at least 1 s.
            public var duration: Duration

            /// A lowest speed.
            public init(bytesPerSecond: Int, for duration: Duration) {
                self.bytesPerSecond = bytesPerSecond
                self.duration = duration
            }
        }
    }
}

extension TransportOptions.Rate: TransportOptionGroup {
    func check() throws {
        let rates = [
            ("rate.maximumReceived", maximumReceived), ("rate.maximumSent", maximumSent),
            ("rate.lowSpeed.bytesPerSecond", lowSpeed?.bytesPerSecond),
        ]
        for case (let name, .some(let value)) in rates where !(1...1 << 40).contains(value) {
            throw OptionCheck.invalid(name, "is \(value); it must be from 1 to 2^40 bytes a second")
        }
        if let duration = lowSpeed?.duration, duration < .seconds(1) || duration > .seconds(86_400) {
            throw OptionCheck.invalid("rate.lowSpeed.duration", "is \(duration); it must be from a second to a day")
        }
    }

    var required: [TransportCapabilities.Capability] { [.rateOptions] }
}
