/// A socket that could not be made: which step, and the system's words.
public struct SocketFailure: Error, Sendable, CustomStringConvertible {
    /// What was tried: `listen on 127.0.0.1:3000`.
    public let operation: String
    /// The system's `errno`.
    public let code: Int32
    /// The system's words: `Address already in use`.
    public let message: String

    /// The step and the system's words.
    public var description: String { "can't \(operation): \(message)" }
}
