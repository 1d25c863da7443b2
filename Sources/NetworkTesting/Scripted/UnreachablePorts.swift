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

/// A port on the loopback interface where connecting neither succeeds nor fails, because its queue is full and nothing
/// accepts.
///
/// It is for tests of connect timeouts on Linux. On other systems a full queue may refuse connections instead.
public final class FullListener: Sendable {
    /// The port.
    public let port: UInt16

    private let host: String
    private let sockets: Guarded<[LoopbackSocket]>

    /// Listens on a port, and fills its queue.
    /// - Parameters:
    ///   - port: The port. Default: a free one.
    ///   - host: An IPv4 address of the loopback interface. Default: `127.0.0.1`.
    /// - Throws: ``SocketFailure``, also if the queue does not fill up.
    public init(on port: UInt16 = 0, of host: String = "127.0.0.1") throws {
        let listener = try LoopbackSocket.listening(on: port, of: host, backlog: 0)
        self.port = try listener.localPort()
        self.host = host
        sockets = Guarded([listener])
        var (count, isFull) = (1, false)
        while !isFull, count < 64 {
            do {
                let (socket, isConnected) = try LoopbackSocket.connecting(to: self.port, of: host, limit: 250)
                sockets.withLock { $0.append(socket) }
                (count, isFull) = (count + 1, !isConnected)
            } catch {
                stop()
                throw error
            }
        }
        guard isFull else {
            stop()
            throw SocketFailure(operation: "fill the queue of \(host):\(self.port)", code: 0, message: "it never fills")
        }
    }

    /// Gives the port back. Until then no server gets it, even if nothing refers to this object any more.
    public func stop() {
        sockets.withLock { sockets in
            for socket in sockets { socket.close() }
            sockets = []
        }
    }

    /// Returns the URL of a path on this port.
    public func url(_ path: String = "/") -> String { "http://\(host):\(port)\(path)" }
}
