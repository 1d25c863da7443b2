public import FoundationEssentials
public import NetworkCore

/// Exchanges of requests and responses, as they are in a HAR 1.2 file.
///
/// ```swift
/// let recording = try Recording(contentsOf: "Fixtures/users.har")
/// for entry in recording.entries { print(entry.request.url, entry.response?.status ?? 0) }
/// ```
///
/// A recording comes from a ``RecordingTransport``, from a browser ("Save all as HAR"), or from entries that a program
/// makes. It may contain secrets in memory; what it writes contains none, see ``Entry/redactSecrets(in:bodies:)``.
public struct Recording: Sendable, SafelyPrinted {
    /// The exchanges, in the order of the file: those of this library in the order in which they ended.
    public var entries: [Entry]

    /// Whether the recording ended before its time: the program did not close the file, or could not write all of it.
    /// Default: `false`, also for a document of another tool.
    public var isIncomplete = false

    /// Creates a recording from exchanges. Default: none.
    public init(entries: [Entry] = []) { self.entries = entries }

    /// The number of entries.
    public var description: String { "a recording of \(entries.count) exchange\(entries.count == 1 ? "" : "s")" }

    /// The maximum size of a file that is read or written if nothing else is said, in bytes: 256 MiB.
    public static let maximumFileBytes = 268_435_456

    /// The maximum size of the recorded part of one body if nothing else is said, in bytes: 1 MiB.
    public static let maximumBodyBytes = 1_048_576
}

extension Recording {
    /// One exchange: a request, and what came of it.
    public struct Entry: Sendable, SafelyPrinted {
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

        /// The request and the status or the failure.
        public var description: String {
            let outcome = response.map { "\($0.status)" } ?? "no response"
            return "\(request): \(outcome)" + (failure.map { ", \($0)" } ?? "") + (isIncomplete ? ", incomplete" : "")
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
