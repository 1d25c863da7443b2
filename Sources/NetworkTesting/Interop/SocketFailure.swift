/// A socket that could not be created: the failed step and the system's message.
public struct SocketFailure: Error, Sendable, CustomStringConvertible {
    /// The step that failed, such as `listen on 127.0.0.1:3000`.
    public let operation: String
    /// The system's `errno`; 0 if the step failed without one.
    public let code: Int32
    /// The system's message, such as `Address already in use`.
    public let message: String

    /// The step and the message, such as `can't listen on 127.0.0.1:3000: Address already in use`.
    public var description: String { "can't \(operation): \(message)" }
}
