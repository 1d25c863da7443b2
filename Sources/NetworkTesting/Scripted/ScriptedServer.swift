import Dispatch
import Foundation
import NetworkCore
import Synchronization

/// A server on 127.0.0.1 that runs a script on each connection, byte for byte. It is for tests of retries, timeouts and
/// malformed responses, and shows the bytes on the wire.
///
/// ```swift
/// try await withServer(.closed, .ok("second time lucky")) { server in
///     let body = try await MyRetryingClient().get(server.url("/x"))
///     #expect(server.requests.count == 2)
/// }
/// ```
///
/// The first connection runs the first script, the second connection the second, and all further connections run the
/// last. Each connection has its own thread. Every wait of a script ends after one minute, or with ``stop()``.
public final class ScriptedServer: Sendable {
    /// The port that the server listens on.
    public let port: UInt16

    private let listener: Listener
    let log = ScriptedLog()
    private let threads = DispatchGroup()

    /// Starts a server on a free port.
    /// - Throws: ``SocketFailure`` if the server can't listen.
    public convenience init(_ scripts: Script...) throws { try self.init(scripts: scripts) }

    /// Starts a server on a free port.
    /// - Parameters:
    ///   - scripts: One script for each connection; the last one runs on all further connections. Without a script, the
    ///     server closes every connection.
    ///   - segment: The largest TCP segment in bytes, 88 to 32,767. With a small segment, little data is in flight.
    ///     Default: `nil`, the system's own size, with which megabytes can be in flight.
    /// - Throws: ``SocketFailure`` if the server can't listen.
    public convenience init(scripts: [Script], segment: Int? = nil) throws {
        try self.init(LoopbackSocket.listening(segment: segment.map { Int32(clamping: $0) }), scripts: scripts)
    }

    /// Starts a server on a socket that listens.
    init(_ socket: LoopbackSocket, scripts: [Script]) throws {
        port = try socket.localPort()
        let (listener, log, threads) = (Listener(socket), log, threads)
        self.listener = listener
        threads.enter()
        Thread.detachNewThread {
            Self.accept(on: socket, scripts: scripts, log: log, threads)
            log.stop()
            listener.close()
            threads.leave()
        }
    }

    deinit { stop() }

    private static func accept(
        on listener: LoopbackSocket, scripts: [Script], log: ScriptedLog, _ threads: DispatchGroup
    ) {
        while let socket = listener.accept() {
            guard let number = log.add(socket) else {
                socket.close()
                break
            }
            let script = scripts.indices.contains(number) ? scripts[number] : scripts.last ?? []
            threads.enter()
            Thread.detachNewThread {
                var connection = ScriptedConnection(socket: socket, number: number, log: log)
                connection.run(script)
                threads.leave()
            }
        }
    }

    /// Closes every connection and stops listening: when this function returns, the port refuses connections. A second
    /// call does nothing.
    public func stop() {
        guard !isStopped else { return }
        // First, or a client whose connection is closed could make another one.
        listener.stop()
        log.stop()
    }

    /// Whether the server has stopped, also because its socket failed.
    var isStopped: Bool { log.snapshot.isStopped }

    /// Waits until every descriptor is closed. A cancellation does not end the wait.
    func waitUntilEnded() async {
        await withCheckedContinuation { ended in threads.notify(queue: .global()) { ended.resume() } }
    }

    /// The scheme, host and port, such as `http://127.0.0.1:3000`.
    public var baseURL: String { "http://127.0.0.1:\(port)" }

    /// Returns the URL of a path on this server.
    public func url(_ path: String = "/") -> String { baseURL + path }

    /// The requests received so far, in the order in which the server read them.
    public var requests: [ReceivedRequest] { log.snapshot.progress.requests }

    /// The number of connections accepted so far.
    public var connectionCount: Int { log.snapshot.progress.connectionCount }

    /// The number of connections that have ended, no matter which side ended them.
    public var endedConnectionCount: Int { log.snapshot.progress.endedConnectionCount }

    /// The number of connections that the client ended while a script was reading or sending.
    public var connectionsEndedByPeer: Int { log.snapshot.progress.connectionsEndedByPeer }
}

/// Runs a scripted server for as long as a closure takes, and stops it on every way out of the closure.
/// - Parameters:
///   - scripts: One script for each connection; the last one runs on all further connections. Without a script, the
///     server closes every connection.
///   - segment: The largest TCP segment in bytes, as for ``ScriptedServer/init(scripts:segment:)``. Default: `nil`, the
///     system's own size.
///   - body: What to do with the server.
/// - Returns: What the closure returns.
/// - Throws: What the closure throws; ``SocketFailure`` if the server can't listen.
public nonisolated(nonsending) func withServer<Value>(
    _ scripts: Script..., segment: Int? = nil,
    _ body: nonisolated(nonsending) (ScriptedServer) async throws -> Value
) async throws -> Value {
    let server = try ScriptedServer(scripts: scripts, segment: segment)
    defer { server.stop() }
    return try await body(server)
}

/// The socket that accepts a server's connections, on a thread of its own.
private final class Listener: Sendable {
    private let socket: LoopbackSocket
    private let isOpen = Guarded(true)

    init(_ socket: LoopbackSocket) { self.socket = socket }

    /// Refuses further connections, and ends the wait for one.
    func stop() {
        // After the close, the descriptor may be another socket's.
        isOpen.withLock { if $0 { socket.interrupt() } }
    }

    func close() {
        isOpen.withLock { isOpen in
            isOpen = false
            socket.close()
        }
    }
}
