public import NetworkCore

extension ShadowTransport {
    /// Which requests have a shadow, and what it may cost.
    public struct Options: Sendable {
        /// The share of the requests that have a shadow, from 0 to 1; less than 0 counts as 0, more than 1 as 1.
        /// Default: 0.01.
        public var share = 0.01
        /// The methods of the requests that may have a shadow. Default: GET, HEAD and OPTIONS, the safe ones
        /// ([RFC 9110 §9.2.1](https://www.rfc-editor.org/rfc/rfc9110.html#section-9.2.1)) that transports send. A
        /// request with a body that is not in memory (``NetworkCore/TransportRequest/Body/bytes``), such as a stream or
        /// a file, has none, whatever its method.
        public var methods: Set<HTTPRequest.Method> = [.get, .head, .options]
        /// The time for the shadow's exchange, and for the comparison to wait for the program to read the primary's
        /// body. Default: 30 s. A pair that needs longer is ``Counts/unfinished``. A shorter
        /// ``NetworkCore/TransportOptions/totalTimeout`` of the request holds too: a shadow that exceeds it has failed.
        public var timeout = Duration.seconds(30)
        /// The maximum number of requests that have a shadow at the same time. Default: 8. More go without; with 0 or
        /// less, all do.
        public var maximumConcurrent = 8
        /// The share of all cores above which no request gets a shadow. It is that of the whole process, since the last
        /// request of the sample and over a quarter of a second at least. Default: 0.7; 1 for no limit.
        public var maximumLoad = 0.7
        /// The maximum number of bytes of each body that are kept and compared. Default: 262,144. Two bodies are kept
        /// for each request that has a shadow.
        public var maximumComparedBytes = 262_144
        /// The places that are not compared, as ``Difference/Place/name`` has them: `field:x-request-id`,
        /// `json:/time`. Default: none. In the environment: `; ignore=json:/time, field:x-request-id`.
        public var ignoredPlaces: Set<String> = []

        /// Creates options with these defaults.
        public init() {}
    }

    /// How many requests there were, and what became of those that had a shadow.
    public struct Counts: Sendable, Hashable {
        /// All requests.
        public internal(set) var requests = 0
        /// The requests that had a shadow, of which some may still run.
        public internal(set) var shadowed = 0
        /// The requests of the sample that went without: too many at the same time, the process was busy, or the body
        /// was not in memory.
        public internal(set) var skipped = 0
        /// The requests of the sample that the shadow's transport can't send.
        public internal(set) var unsupported = 0
        /// The pairs of responses that are the same.
        public internal(set) var same = 0
        /// The pairs whose differences are all known ones between these transports.
        public internal(set) var knownDifferences = 0
        /// The pairs with another difference.
        public internal(set) var differences = 0
        /// The pairs that were not compared: the program cancelled the request, or the shadow or the program's reading
        /// took longer than ``Options/timeout``.
        public internal(set) var unfinished = 0
        /// The pairs that were compared: the same, known and other differences.
        public var compared: Int { same + knownDifferences + differences }
    }
}
