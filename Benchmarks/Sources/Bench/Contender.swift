/// A client to be measured.
public protocol Contender: Sendable {
    /// Creates the client.
    init(_ arguments: Arguments) async throws
    /// The executor of its tasks; `nil` for the default one.
    var executor: (any TaskExecutor)? { get throws }
    /// Sends a GET request and collects the body.
    /// - Returns: The length of the body, in bytes.
    func get() async throws -> Int
    /// Sends a GET request and reads the body without keeping it.
    /// - Returns: The length of the body, in bytes.
    func stream() async throws -> Int
    /// Sends 64 KiB of known bytes and collects the response.
    func post() async throws
    /// Sends `bytes` bytes from a stream and collects the response.
    func upload() async throws
    /// Sends a GET request and decodes the body.
    /// - Returns: The length of the body in bytes, or 0 if the client does not know it.
    func decode() async throws -> Int
    /// Sends a request that never gets a response.
    func poll() async throws
}

/// The error for a mode that a contender does not support.
public struct CanNot: Error {
    /// Creates the error.
    public init() {}
}

/// A response that does not match its request.
public struct WrongAnswer: Error, CustomStringConvertible {
    /// The difference from the expected response.
    public let description: String
    /// Creates an error with a description.
    public init(_ description: String) { self.description = description }
}

extension Contender {
    /// The default executor.
    public var executor: (any TaskExecutor)? { nil }
    /// Not supported by default.
    public func stream() async throws -> Int { throw CanNot() }
    /// Not supported by default.
    public func post() async throws { throw CanNot() }
    /// Not supported by default.
    public func upload() async throws { throw CanNot() }
    /// Not supported by default.
    public func decode() async throws -> Int { throw CanNot() }
    /// Not supported by default.
    public func poll() async throws { throw CanNot() }
}
