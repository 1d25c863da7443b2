/// A way of sending requests, to be measured.
public protocol Contender: Sendable {
    /// Makes the client.
    init(_ arguments: Arguments) async throws
    /// Where its tasks run; `nil` for where all tasks run.
    var executor: (any TaskExecutor)? { get throws }
    /// Collects a body.
    /// - Returns: Its bytes.
    func get() async throws -> Int
    /// Reads a body and keeps nothing.
    /// - Returns: Its bytes.
    func stream() async throws -> Int
    /// Sends 64 KiB of known bytes and collects the answer.
    func post() async throws
    /// Sends `bytes` bytes from a stream and collects the answer.
    func upload() async throws
    /// Decodes a body.
    /// - Returns: Its bytes, or 0 where they are not seen.
    func decode() async throws -> Int
    /// Asks for what never comes.
    func poll() async throws
}

/// What a contender can't do at all.
public struct CanNot: Error {
    /// The error.
    public init() {}
}

/// An answer that is not what was asked for.
public struct WrongAnswer: Error, CustomStringConvertible {
    /// What came instead.
    public let description: String
    /// An error that says so.
    public init(_ description: String) { self.description = description }
}

extension Contender {
    /// Where all tasks run.
    public var executor: (any TaskExecutor)? { nil }
    /// Not for this contender.
    public func stream() async throws -> Int { throw CanNot() }
    /// Not for this contender.
    public func post() async throws { throw CanNot() }
    /// Not for this contender.
    public func upload() async throws { throw CanNot() }
    /// Not for this contender.
    public func decode() async throws -> Int { throw CanNot() }
    /// Not for this contender.
    public func poll() async throws { throw CanNot() }
}
