public import FoundationEssentials
public import NetworkCore

extension Recording {
    /// One exchange: a request, and what came of it.
    public struct Entry: Sendable {
        /// The time at which the request was given to the transport, in whole milliseconds in a file.
        public var started: Date
        /// The request.
        public var request: Request
        /// The response; `nil` if the exchange failed before its head arrived.
        public var response: Response?
        /// The failure of the exchange, before the head or within the body; `nil` if there was none.
        public var failure: Failure?
        /// The durations, sizes and connection details of the exchange: HTTP version, remote address, reuse.
        public var metrics: TransportMetrics
        /// The name of the transport: `curl`. `nil` if it is not known, as from a browser.
        public var transport: String?
        /// Whether the reader released the response before the end of its body.
        public var isIncomplete: Bool
        /// The parts from which secrets were left out.
        public var redacted: Set<Part>

        /// Creates an exchange from its parts, which may contain secrets.
        /// - Parameters:
        ///   - started: The time at which the request began. Default: now.
        ///   - request: The request.
        ///   - response: The response. Default: `nil`, for none.
        ///   - failure: The failure. Default: `nil`, for none.
        ///   - metrics: The durations and the connection. Default: nothing is known.
        ///   - transport: The name of the transport. Default: `nil`.
        public init(
            started: Date = Date(),
            request: Request,
            response: Response? = nil,
            failure: Failure? = nil,
            metrics: TransportMetrics = TransportMetrics(total: .zero),
            transport: String? = nil
        ) {
            self.started = started
            self.request = request
            self.response = response
            self.failure = failure
            self.metrics = metrics
            self.transport = transport
            isIncomplete = false
            redacted = []
        }
    }

    /// A part of an exchange that may contain secrets.
    @nonexhaustive
    public enum Part: String, Sendable, Hashable, CaseIterable {
        /// The URL of the request.
        case url
        /// The header fields of the request.
        case requestFields
        /// The body of the request.
        case requestBody
        /// The reason phrase of the response.
        case reason
        /// The header fields of the response.
        case responseFields
        /// The body of the response.
        case responseBody
        /// The trailers of the response.
        case trailers
    }
}
