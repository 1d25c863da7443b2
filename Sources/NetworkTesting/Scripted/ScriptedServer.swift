import Foundation

/// A server on 127.0.0.1 that does on each connection what a script says, byte for byte: for tests of retries, timeouts
/// and broken answers, and to see what is on the wire.
///
/// ```swift
/// let server = try ScriptedServer(.closed, .ok("second time lucky"))
/// defer { server.stop() }
/// let body = try await MyRetryingClient().get(server.url("/x"))
/// #expect(server.requests.count == 2)
/// ```
///
/// The first connection runs the first script, the second the second, and the last script is repeated for all that
/// follow. Each connection has a thread; every wait of a script ends after a minute, or with ``stop()``.
public final class ScriptedServer: Sendable {
    /// The port it listens on.
    public let port: UInt16

    private let listener: LoopbackSocket
    private let log = ScriptedLog()

    /// Listens on a free port.
    /// - Throws: ``SocketFailure``.
    public convenience init(_ scripts: Script...) throws { try self.init(scripts: scripts) }

    /// Listens on a free port.
    /// - Parameters:
    ///   - scripts: One for each connection, the last for all that follow; none closes every connection.
    ///   - segment: The most bytes of a TCP segment, 88 to 32,767: with few, little is under way at a time. `nil` for
    ///     the system's own, with which megabytes are.
    /// - Throws: ``SocketFailure``.
    public init(scripts: [Script], segment: Int? = nil) throws {
        listener = try LoopbackSocket.listening(segment: segment.map { Int32(clamping: $0) })
        port = try listener.localPort()
        let (listener, log) = (listener, log)
        Thread.detachNewThread { Self.accept(on: listener, scripts: scripts, log: log) }
    }

    deinit { stop() }

    private static func accept(on listener: LoopbackSocket, scripts: [Script], log: ScriptedLog) {
        while let socket = listener.accept() {
            guard let number = log.add(socket) else {
                socket.close()
                break
            }
            let script = scripts.indices.contains(number) ? scripts[number] : scripts.last ?? []
            let connection = ScriptedConnection(socket: socket, number: number, log: log)
            Thread.detachNewThread { connection.run(script) }
        }
        listener.close()
    }

    /// Ends every connection and stops listening. A second call does nothing.
    public func stop() {
        guard !log.snapshot.isStopped else { return }
        log.stop()
        // A connection of our own wakes the thread in `accept` on every system.
        if let (socket, _) = try? LoopbackSocket.connecting(to: port, limit: 0) { socket.close() }
    }

    /// Scheme, host and port: `http://127.0.0.1:3000`.
    public var baseURL: String { "http://127.0.0.1:\(port)" }

    /// The URL of a path.
    public func url(_ path: String = "/") -> String { baseURL + path }

    /// The requests so far, in the order in which they were read.
    public var requests: [ReceivedRequest] { log.snapshot.requests }

    /// How many connections were accepted.
    public var connectionCount: Int { log.snapshot.accepted }

    /// How many connections are over, whoever ended them.
    public var endedConnectionCount: Int { log.snapshot.ended }

    /// How many connections the other side ended, while a script was reading or sending.
    public var connectionsEndedByPeer: Int { log.snapshot.endedByPeer }

    /// Waits until something holds of the server: a count of requests, an ended connection.
    /// - Parameter condition: Asked now and after every change.
    /// - Throws: `CancellationError` when the task is cancelled first.
    public func wait(until condition: @Sendable (ScriptedServer) -> Bool) async throws {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let key = log.watch { continuation.yield() }
        defer { log.unwatch(key) }
        if condition(self) { return }
        for await _ in stream where condition(self) { return }
        throw CancellationError()
    }
}
