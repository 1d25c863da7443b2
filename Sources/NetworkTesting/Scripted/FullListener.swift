/// A port on 127.0.0.1 where connecting neither succeeds nor fails: its queue is full and nobody accepts.
///
/// For tests of connect timeouts. On Linux; elsewhere a full queue may refuse instead.
public final class FullListener: Sendable {
    /// The port.
    public let port: UInt16

    private let sockets: [LoopbackSocket]

    /// Listens, and fills the queue.
    /// - Throws: ``SocketFailure``, also when the queue does not get full.
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
            throw SocketFailure(operation: "fill the queue of 127.0.0.1:\(port)", code: 0, message: "it takes all")
        }
    }

    deinit { for socket in sockets { socket.close() } }

    /// The URL of a path.
    public func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }
}
