/// A port on 127.0.0.1 that refuses connections for as long as the object lives: it is taken, and nobody listens.
public final class ClosedPort: Sendable {
    /// The port.
    public let port: UInt16

    private let socket: LoopbackSocket

    /// Takes a free port.
    /// - Throws: ``SocketFailure``.
    public init() throws {
        socket = try LoopbackSocket.bound()
        port = try socket.localPort()
    }

    deinit { socket.close() }

    /// The URL of a path.
    public func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }
}
