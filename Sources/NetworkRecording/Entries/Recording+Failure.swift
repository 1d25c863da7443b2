public import NetworkCore

extension Recording {
    /// The failure of a recorded exchange.
    public struct Failure: Sendable, Hashable {
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
