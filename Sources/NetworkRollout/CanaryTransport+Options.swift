import Logging
import NetworkComparison
public import NetworkCore

extension CanaryTransport {
    /// The share of the canary, and the rules of its return.
    public struct Options: Sendable {
        /// The share of the requests that go over the canary, from 0 to 1; less than 0 counts as 0, more than 1 as 1.
        /// Default: 0.05. With 1 there is nothing to compare the canary with, so that it never returns.
        public var share = 0.05
        /// Which requests stay together. Default: none, each is drawn by itself.
        public var assignment = Assignment.eachRequest
        /// How many times as long as over the primary a response's head may take; `.infinity` judges failures
        /// alone. Default: 1.25.
        public var tolerance = 1.25
        /// How much longer than over the primary a response's head may take, whatever ``tolerance`` says. Default:
        /// 2 ms; a negative duration counts as zero.
        public var allowedDelay = Duration.milliseconds(2)
        /// The chance, at most, that a canary is dropped that is not worse. Default: 0.001. With 0 or less, the canary
        /// never returns.
        public var falseAlarms = 0.001

        /// Creates options with these defaults.
        public init() {}
    }

    /// Which requests stay together on one transport.
    public struct Assignment: Sendable {
        private let key: (@Sendable (TransportRequest) -> String)?

        /// Each request is drawn by itself.
        public static let eachRequest = Assignment(key: nil)

        /// All requests to an origin use one transport, in this process and in others.
        public static let origin = Assignment.key { "\($0.url.scheme)://\($0.url.host):\($0.url.effectivePort)" }

        /// All requests with the same key use one transport, in this process and in others: a user's, for example.
        public static func key(_ key: @escaping @Sendable (TransportRequest) -> String) -> Assignment {
            Assignment(key: key)
        }

        private init(key: (@Sendable (TransportRequest) -> String)?) { self.key = key }

        /// Returns a number from 0 to 1 for a request.
        func number(of request: TransportRequest) -> Double {
            guard let key else { return .random(in: 0..<1) }
            // Swift's own hashes differ from process to process.
            let bits = SHA256Checksum.digest(key(request).utf8).prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            return Double(bits) * 0x1p-32
        }
    }

    /// What was judged so far.
    public struct Counts: Sendable, Hashable {
        /// The judged requests over the primary.
        public internal(set) var primary = 0
        /// Those that failed.
        public internal(set) var primaryFailures = 0
        /// The judged requests over the canary.
        public internal(set) var canary = 0
        /// Those that failed.
        public internal(set) var canaryFailures = 0
        /// The pairs of times to the head of a response, one over each transport.
        public internal(set) var pairs = 0
        /// The pairs in which the canary took longer than ``Options/tolerance`` and ``Options/allowedDelay`` allow.
        public internal(set) var slowerPairs = 0
        /// The pairs in which the canary took more than three times as long as that.
        public internal(set) var farSlowerPairs = 0
        /// The pairs in which the primary took more than three times as long as the canary, the tolerance deducted.
        public internal(set) var farFasterPairs = 0
        /// The times to the head over the primary; `nil` without a request that did not fail.
        public internal(set) var primaryTimes: Times?
        /// The times to the head over the canary; `nil` without a request that did not fail.
        public internal(set) var canaryTimes: Times?
    }

    /// The times from a request to the head of its response, failed requests left out. Each duration is exact to 4 %.
    public struct Times: Sendable, Hashable {
        /// The number of requests.
        public internal(set) var count: Int
        /// The median.
        public internal(set) var median: Duration
        /// The time that 95 % of the requests do not exceed.
        public internal(set) var percentile95: Duration
    }

    /// The end of a canary: from now on, all requests go over the primary.
    public struct Return: Sendable, CustomStringConvertible {
        /// What was worse.
        @nonexhaustive
        public enum Reason: String, Sendable, Hashable {
            /// More of the requests over the canary failed.
            case failures
            /// The responses over the canary came later.
            case latency
            /// More of the responses over the canary came much later.
            case tail
        }

        /// What was worse.
        public let reason: Reason
        /// What was judged until then.
        public let counts: Counts
        let arms: (primary: String, canary: String)

        /// The end in a sentence, with its figures.
        public var description: String {
            let what =
                switch reason {
                case .failures: "it failed more often"
                case .latency: "it was slower in \(counts.slowerPairs) of \(counts.pairs) pairs"
                case .tail:
                    "it was far slower in \(counts.farSlowerPairs) and far faster in \(counts.farFasterPairs) of "
                        + "\(counts.pairs) pairs"
                }
            let canary = Self.figures(counts.canary, counts.canaryFailures, counts.canaryTimes)
            let primary = Self.figures(counts.primary, counts.primaryFailures, counts.primaryTimes)
            return "the canary \(arms.canary) has ended, all requests go over \(arms.primary): \(what); "
                + "\(arms.canary): \(canary); \(arms.primary): \(primary)"
        }

        private static func figures(_ requests: Int, _ failures: Int, _ times: Times?) -> String {
            let share = ContentDifference.percent(Double(failures) / Double(max(1, requests)))
            let failed = "\(failures) of \(requests) failed (\(share))"
            guard let times else { return failed }
            return failed + ", median \(times.median.shortText), 95th percentile \(times.percentile95.shortText)"
        }

        var metadata: Logger.Metadata {
            var metadata: Logger.Metadata = [
                "reason": "\(reason.rawValue)", "primary": "\(arms.primary)", "canary": "\(arms.canary)",
                "primary.requests": "\(counts.primary)", "primary.failures": "\(counts.primaryFailures)",
                "canary.requests": "\(counts.canary)", "canary.failures": "\(counts.canaryFailures)",
                "pairs": "\(counts.pairs)", "pairs.slower": "\(counts.slowerPairs)",
                "pairs.farSlower": "\(counts.farSlowerPairs)", "pairs.farFaster": "\(counts.farFasterPairs)",
            ]
            for (arm, times) in [("primary", counts.primaryTimes), ("canary", counts.canaryTimes)] {
                metadata["\(arm).median"] = times.map { "\($0.median.shortText)" }
                metadata["\(arm).percentile95"] = times.map { "\($0.percentile95.shortText)" }
            }
            return metadata
        }
    }
}
