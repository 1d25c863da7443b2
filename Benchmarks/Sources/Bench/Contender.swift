/// A way of sending requests, to be measured.
public protocol Contender: Sendable {
    init(_ arguments: Arguments) async throws
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
    /// Runs the body of a worker, perhaps on an executor of the contender's own.
    func work(_ body: @escaping @Sendable () async -> Void) async
}

/// What a contender can't do at all.
public struct CanNot: Error {
    public init() {}
}

/// An answer that is not what was asked for.
public struct WrongAnswer: Error, CustomStringConvertible {
    public let description: String
    public init(_ description: String) { self.description = description }
}

extension Contender {
    public func stream() async throws -> Int { throw CanNot() }
    public func post() async throws { throw CanNot() }
    public func upload() async throws { throw CanNot() }
    public func decode() async throws -> Int { throw CanNot() }
    public func poll() async throws { throw CanNot() }
    public func work(_ body: @escaping @Sendable () async -> Void) async { await body() }
}
