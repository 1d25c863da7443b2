import NetworkCore
import Synchronization

/// A small HTTP server for demonstrations and tests: JSON, echo, statuses, delays, sizes, gzip, redirects. It listens
/// on 127.0.0.1 by default.
///
/// ```swift
/// let server = DemoServer()
/// try await server.start()
/// let users: [User] = try await GetUsers(at: server.baseURL).send().body
/// await server.stop()
/// ```
///
/// ``routes`` lists the paths that it serves. It responds with 404 to any other path, 405 to a method that a route does
/// not take, and 400 to a value out of range, each with a JSON body that gives the reason. To see the bytes on the
/// wire, or to send malformed responses, use ``ScriptedServer``.
///
/// The server ends with ``stop()``, or when nothing holds it any more.
public final class DemoServer: Sendable {
    private let host: String
    private let wantedPort: UInt16
    private let isLogging: Bool
    private let running = Guarded<ScriptedServer?>(nil)

    /// Creates a server that does not listen yet.
    /// - Parameters:
    ///   - port: The port to listen on. Default: 0, which takes a free port.
    ///   - host: The IPv4 address to listen on. The server has no access control: use addresses other than loopback
    ///     only in containers.
    ///   - logging: Whether the server prints requests to standard output. Default: `false`.
    public init(port: UInt16 = 0, host: String = "127.0.0.1", logging: Bool = false) {
        self.host = host
        wantedPort = port
        isLogging = logging
    }

    /// Ends the server as a failure of its socket would, and does not wait for that.
    func end() { current?.stop() }

    /// Starts the server, and returns when it listens. Does nothing if the server is running.
    /// - Throws: ``SocketFailure`` if the host and port are not available.
    public func start() async throws {
        try running.withLock { running in
            guard running?.isStopped != false else { return }
            let script = Script([
                Script.Step(
                    kind: .serve { [isLogging] connection, reader in
                        Self.exchange(on: connection, &reader, isLogging: isLogging)
                    })
            ])
            running = try ScriptedServer(LoopbackSocket.listening(on: wantedPort, of: host), scripts: [script])
        }
    }

    /// Stops listening and closes every connection. Does nothing if the server is not running.
    public func stop() async {
        let server = running.withLock { $0.take() }
        server?.stop()
        await server?.waitUntilEnded()
    }

    /// Waits until the server has ended, because of ``stop()`` or a failure of its socket.
    public func waitUntilStopped() async { await running.withLock(\.self)?.waitUntilEnded() }

    /// The server that runs; `nil` also after it has ended by itself.
    private var current: ScriptedServer? { running.withLock { $0?.isStopped == false ? $0 : nil } }

    /// The port that the server listens on; before the start, the requested port, which may be 0.
    public var port: UInt16 { current?.port ?? wantedPort }

    /// The scheme, host and port, such as `http://127.0.0.1:3000`.
    public var baseURL: String { "http://\(host):\(port)" }
}
