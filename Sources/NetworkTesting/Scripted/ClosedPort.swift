/// A port on 127.0.0.1 that refuses connections for as long as the object lives: it is taken, but nothing listens.
public final class ClosedPort: Sendable {
    /// The port.
    public let port: UInt16

    private let socket: LoopbackSocket

    /// Takes a free port.
    /// - Throws: ``SocketFailure`` if no port is available.
    public init() throws {
        socket = try LoopbackSocket.bound()
        port = try socket.localPort()
    }

    deinit { socket.close() }

    /// Returns the URL of a path on this port.
    public func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }
}
