extension TransportOptions {
    /// Limits for the speed of a transfer, upper and lower. Not supported by the URLSession transport.
    ///
    /// To keep a rate, libcurl moves up to 100 KiB at once and then pauses. ``TransportOptions/idleTimeout`` is longer
    /// by the time that 256 KiB take at the lower of the two rates.
    public struct Rate: Sendable, Hashable {
        /// The maximum average speed of receiving, in bytes per second, from 1 to 2^40. Default: `nil`, for no limit.
        ///
        /// Up to two seconds' worth of bytes may arrive at once, or 1 KiB (with libcurl 7.88 to 8.1: 100 KiB) if that
        /// is more. Below libcurl 8.2 such a request uses HTTP/1.1; with HTTP/2 by prior knowledge it is
        /// ``NetworkError/Code/unsupported``.
        /// [CURLOPT_MAX_RECV_SPEED_LARGE](https://curl.se/libcurl/c/CURLOPT_MAX_RECV_SPEED_LARGE.html)
        public var maximumReceivedPerSecond: Int?
        /// The maximum average speed of sending, in bytes per second, from 1 to 2^40. Default: `nil`, for no limit.
        /// [CURLOPT_MAX_SEND_SPEED_LARGE](https://curl.se/libcurl/c/CURLOPT_MAX_SEND_SPEED_LARGE.html)
        public var maximumSentPerSecond: Int?
        /// The speed below which the exchange fails. Default: `nil`, for no limit.
        public var lowSpeed: LowSpeed?

        /// Creates the default options: no limits.
        public init() {}

        /// A minimum speed. An exchange that is slower for the given time fails with ``NetworkError/Code/lowSpeed``.
        ///
        /// The time also counts while the request's body has no bytes ready, below libcurl 8.18.
        /// [CURLOPT_LOW_SPEED_LIMIT](https://curl.se/libcurl/c/CURLOPT_LOW_SPEED_LIMIT.html),
        /// [CURLOPT_LOW_SPEED_TIME](https://curl.se/libcurl/c/CURLOPT_LOW_SPEED_TIME.html)
        public struct LowSpeed: Sendable, Hashable {
            /// The minimum speed in bytes per second, both directions together, from 1 to 2^40.
            /// [CURLOPT_LOW_SPEED_LIMIT](https://curl.se/libcurl/c/CURLOPT_LOW_SPEED_LIMIT.html)
            public var bytesPerSecond: Int
            /// How long the speed may be lower, in whole seconds, from a second to a day.
            /// [CURLOPT_LOW_SPEED_TIME](https://curl.se/libcurl/c/CURLOPT_LOW_SPEED_TIME.html)
            public var duration: Duration

            /// Creates a minimum speed.
            public init(bytesPerSecond: Int, for duration: Duration) {
                self.bytesPerSecond = bytesPerSecond
                self.duration = duration
            }
        }

        func check() throws {
            let rates = [
                ("rate.maximumReceivedPerSecond", maximumReceivedPerSecond),
                ("rate.maximumSentPerSecond", maximumSentPerSecond),
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
}
