import NetworkCore
import Synchronization

/// A port on 127.0.0.1 that refuses connections until ``stop()``: it is taken, but nothing listens.
public final class ClosedPort: Sendable {
    /// The port.
    public let port: UInt16

    private let socket: Guarded<LoopbackSocket?>

    /// Takes a free port.
    /// - Throws: ``SocketFailure`` if no port is available.
    public init() throws {
        let socket = try LoopbackSocket.bound()
        port = try socket.localPort()
        self.socket = Guarded(socket)
    }

    /// Gives the port back. Until then no server gets it, even if nothing refers to this object any more.
    public func stop() { socket.withLock { $0.take() }?.close() }

    /// Returns the URL of a path on this port.
    public func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }
}
