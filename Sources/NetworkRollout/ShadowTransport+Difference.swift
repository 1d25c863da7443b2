public import FoundationEssentials
import NetworkComparison
public import NetworkCore

extension ShadowTransport {
    /// A pair of responses that differ.
    public struct Difference: Sendable, SafelyPrinted {
        /// One place at which they differ. Values are cut, and secrets are left out.
        public struct Place: Sendable, Hashable, SafelyPrinted {
            /// The part of the response: `status`, `error`, `field:name`, `fieldOrder`, `fieldCase`, `trailers`,
            /// `json:/path`, `event:number`, `event:number/id`, `event:number/retry` or `body`.
            public let name: String
            /// The primary's value.
            public let primary: String
            /// The shadow's value.
            public let shadow: String
            /// The name of the known difference between these transports, as in 'Where the transports differ'; `nil`
            /// for a new one.
            public let known: String?

            /// The name, cut at 128 bytes, and the values unless they are those of bodies.
            public var description: String {
                (showsValues ? "\(shownName) \(primary) / \(shadow)" : shownName)
                    + (known.map { " (known: \($0))" } ?? "")
            }

            /// The name as descriptions and logs show it: the server chooses the keys of a path, and their number.
            var shownName: String { Redaction.visible(name, limit: 128) }

            /// Whether the values are of a part that descriptions and logs show.
            var showsValues: Bool { !ResponseParts.isOfBodyParts(name) && name != "body" }
        }

        /// The request.
        public let request: TransportRequest
        /// The primary's response; `nil` after a failure.
        public let primary: Side?
        /// The shadow's response; `nil` after a failure.
        public let shadow: Side?
        /// Where they differ; never empty.
        public let places: [Place]
        /// How many pairs were compared until then.
        let compared: Int

        /// One response.
        public struct Side: Sendable, SafelyPrinted {
            /// The status and the header fields.
            public let head: HTTPResponse
            /// The body as far as it was kept, up to ``Options/maximumComparedBytes``.
            public let body: Data
            /// Whether ``body`` is the whole body.
            public let isWhole: Bool

            /// The status and the size of the body.
            public var description: String { "\(head.status.code), \(body.count) bytes\(isWhole ? "" : " or more")" }
        }

        /// Whether each difference is a known one.
        public var isKnown: Bool { places.allSatisfy { $0.known != nil } }

        /// The request without its query, and the first 20 places, without the values of bodies.
        public var description: String {
            let shown = places.prefix(Self.mostShownPlaces).map(\.description)
            let rest = places.count - shown.count
            return "\(request.method.rawValue) \(request.url): " + shown.joined(separator: "; ")
                + (rest > 0 ? "; and \(rest) more" : "")
        }

        /// The most places in a description or a log.
        static let mostShownPlaces = 20
    }
}
