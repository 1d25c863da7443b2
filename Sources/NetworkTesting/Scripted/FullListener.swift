/// A port on 127.0.0.1 where connecting neither succeeds nor fails, because its queue is full and nothing accepts.
///
/// It is for tests of connect timeouts on Linux. On other systems a full queue may refuse connections instead.
public final class FullListener: Sendable {
    /// The port.
    public let port: UInt16

    private let sockets: [LoopbackSocket]

    /// Listens on a free port, and fills its queue.
    /// - Throws: ``SocketFailure``, also if the queue does not fill up.
    public init() throws {
        let listener = try LoopbackSocket.listening(backlog: 0)
        port = try listener.localPort()
        var sockets = [listener]
        var isFull = false
        while !isFull, sockets.count < 64 {
            let (socket, isConnected) = try LoopbackSocket.connecting(to: port, limit: 250)
            sockets.append(socket)
            isFull = !isConnected
        }
        self.sockets = sockets
        guard isFull else {
            throw SocketFailure(operation: "fill the queue of 127.0.0.1:\(port)", code: 0, message: "it never fills")
        }
    }

    deinit { for socket in sockets { socket.close() } }

    /// Returns the URL of a path on this port.
    public func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }
}
