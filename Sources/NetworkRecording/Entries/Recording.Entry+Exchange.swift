public import FoundationEssentials
public import NetworkCore

extension Recording.Entry {
    /// Creates the record of an exchange, without its secrets: see ``redactSecrets(in:bodies:)``. The request's
    /// ``NetworkCore/TransportOptions/secretFields`` are secret too.
    /// - Parameters:
    ///   - request: The request. Of a streamed body, only the length is recorded.
    ///   - response: The head of the response.
    ///   - body: The body after decompression.
    ///   - trailers: The trailer fields. Default: `nil`.
    ///   - started: The time at which the request began. Default: now.
    ///   - metrics: The durations and the connection. Default: nothing is known.
    ///   - transport: The name of the transport. Default: `nil`.
    ///   - maximumBodyBytes: The limit on the recorded part of each body, in bytes. Default: 1 MiB.
    ///   - bodies: The bodies that are recorded. Default: those with a structure.
    public init(
        _ request: TransportRequest,
        response: HTTPResponse,
        body: Data,
        trailers: HTTPFields? = nil,
        started: Date = Date(),
        metrics: TransportMetrics = TransportMetrics(total: .zero),
        transport: String? = nil,
        maximumBodyBytes: Int = Recording.maximumBodyBytes,
        bodies: Recording.Bodies = .structured
    ) {
        self.init(
            started: started,
            request: Recording.Request(request, maximumBodyBytes: maximumBodyBytes),
            response: Recording.Response(
                response, body: Recording.Body(body, limit: maximumBodyBytes), trailers: trailers),
            metrics: metrics,
            transport: transport
        )
        redactSecrets(in: request.options.secretFields, bodies: bodies)
    }

    /// Creates the record of an exchange that failed, without its secrets.
    /// - Parameters:
    ///   - request: The request. Of a streamed body, only the length is recorded.
    ///   - failure: The error.
    ///   - started: The time at which the request began. Default: now.
    ///   - transport: The name of the transport. Default: `nil`.
    ///   - maximumBodyBytes: The limit on the recorded part of the request's body, in bytes. Default: 1 MiB.
    ///   - bodies: The bodies that are recorded. Default: those with a structure.
    public init(
        _ request: TransportRequest,
        failure: any Error,
        started: Date = Date(),
        transport: String? = nil,
        maximumBodyBytes: Int = Recording.maximumBodyBytes,
        bodies: Recording.Bodies = .structured
    ) {
        let elapsed = (failure as? NetworkError)?.exchange?.elapsed
        self.init(
            started: started,
            request: Recording.Request(request, maximumBodyBytes: maximumBodyBytes),
            failure: Recording.Failure(failure, time: elapsed),
            metrics: TransportMetrics(total: elapsed ?? .zero),
            transport: transport
        )
        redactSecrets(in: request.options.secretFields, bodies: bodies)
    }
}

extension Recording {
    /// The failure of a recorded exchange.
    public struct Failure: Sendable, Hashable, SafelyPrinted {
        /// The kind of the failure.
        public var code: NetworkError.Code
        /// The cause, without secrets.
        public var message: String
        /// How far the exchange had come, if that is known.
        public var phase: NetworkError.Phase?
        /// The time from the start of the exchange to the failure; `nil` if it is not known.
        public var time: Duration?

        /// Creates a failure. The message is redacted as that of a ``NetworkCore/NetworkError`` is.
        public init(
            code: NetworkError.Code, message: String, phase: NetworkError.Phase? = nil, time: Duration? = nil
        ) {
            self.code = code
            self.message = NetworkError(code, message).message
            self.phase = phase
            self.time = time
        }

        /// Creates the record of an error. Of an error of another type than ``NetworkCore/NetworkError``, only the name
        /// of its type is kept, because its description may contain a secret.
        public init(_ error: any Error, time: Duration? = nil) {
            let code = NetworkError.code(of: error) ?? .unclassified
            let known = error as? NetworkError ?? (code == .cancelled ? .cancelled : nil)
            self.init(
                code: code, message: known?.message ?? NetworkError.logText(of: error), phase: known?.phase, time: time)
        }

        /// The code.
        public var description: String { Redaction.visible(code.rawValue) }

        /// The failure as an error.
        public var error: NetworkError { NetworkError(code, message, phase: phase) }
    }
}

extension NetworkError.Code {
    /// A text is not a HAR 1.2 document that can be used. The message names the place in it.
    public static let invalidRecording = Self(rawValue: "invalidRecording")
    /// A `ReplayTransport` received a request that is not in its recording, or the part of a body that is read was not
    /// recorded.
    public static let notRecorded = Self(rawValue: "notRecorded")
}
