import Foundation
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
            // None of the requests is recorded.
            let serve = Script.Step("serve") { [isLogging] connection in
                while Self.exchange(on: &connection, isLogging: isLogging) {}
                return .script
            }
            running = try ScriptedServer(LoopbackSocket.listening(on: wantedPort, of: host), scripts: [[serve]])
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

    /// Reads a request and responds. Returns whether the connection goes on.
    private static func exchange(on connection: inout ScriptedConnection, isLogging: Bool) -> Bool {
        guard let head = connection.reader.readHead(), var request = DemoRequest(head: head) else { return false }
        if request.expectsContinue {
            guard connection.socket.send(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8)) else { return false }
        }
        guard connection.reader.readBody(of: head, { request.add($0) }) == .complete else { return false }
        let response = response(to: &request)
        // A path may hold what a terminal would take for commands.
        if isLogging { print(Redaction.visible("DemoServer: \(request.method) \(request.path): \(response.status)")) }
        if response.delay > 0 { connection.wait(for: .milliseconds(response.delay)) }
        return connection.socket.send(response.bytes(for: request)) && request.keepsConnection
    }

    private static func response(to request: inout DemoRequest) -> DemoResponse {
        let matches = routes.compactMap { route in route.match(request.path).map { (route: route, value: $0) } }
        do {
            if let match = matches.first(where: { $0.route.accepts(request.method) }) {
                request.value = match.value
                return try match.route.response(request)
            }
            guard let other = matches.first?.route else {
                throw DemoRefusal(status: 404, message: "no route for \(request.path)")
            }
            throw DemoRefusal(status: 405, message: "\(other.path) takes \(other.methods.joined(separator: ", "))")
        } catch {
            let refusal = error as? DemoRefusal ?? DemoRefusal(status: 500, message: "\(error)")
            return .json(["error": .string(refusal.message)], status: refusal.status)
        }
    }
}
