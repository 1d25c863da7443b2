import NetworkCore
import FlyingFox
import FlyingSocks
import Foundation
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
    private struct Running {
        let server: HTTPServer
        let task: Task<Void, any Error>
        let port: UInt16
        /// Raised before the task ends, so that code that has waited for the task may start another server.
        let hasEnded: OneTimeFlag
    }

    private let host: String
    private let wantedPort: UInt16
    private let isLogging: Bool
    private let running = Guarded<Running?>(nil)
    private let starting = Guarded<Task<Void, any Error>?>(nil)

    /// Creates a server that does not listen yet.
    /// - Parameters:
    ///   - port: The port to listen on. Default: 0, which takes a free port.
    ///   - host: The IPv4 address to listen on. The server has no access control: use addresses other than loopback
    ///     only in containers.
    ///   - logging: Whether the server prints connections and requests to standard output. Default: `false`.
    public init(port: UInt16 = 0, host: String = "127.0.0.1", logging: Bool = false) {
        self.host = host
        wantedPort = port
        isLogging = logging
    }

    deinit { end() }

    /// Ends the server as a failure of its socket would, and does not wait for that.
    func end() { running.withLock { $0?.task.cancel() } }

    /// Starts the server, and returns when it listens. Does nothing if the server is running.
    /// Calls at the same time are one.
    /// - Throws: ``SocketFailure`` if the host and port are not available.
    public func start() async throws {
        let start = starting.withLock { starting in
            let start =
                starting
                ?? Task {
                    defer { self.starting.withLock { $0 = nil } }
                    try await startOnce()
                }
            starting = start
            return start
        }
        try await start.value
    }

    private func startOnce() async throws {
        guard current == nil else { return }
        // FlyingFox waits out its whole timeout when a port is taken, so a requested port is tried first.
        if wantedPort != 0 { try LoopbackSocket.listening(on: wantedPort, of: host, backlog: 1).close() }
        var logger: any Logging = .disabled
        if isLogging { logger = PrintLogger(category: "DemoServer") }
        let server = HTTPServer(
            address: try .inet(ip4: host, port: wantedPort),
            timeout: 120,
            pool: PromptSocketPool(SocketPool(queue: EpollQueue())),
            logger: logger,
            handler: ClosureHTTPHandler { await Self.response(DemoRequest($0)) }
        )
        let listening = Task { try await server.waitUntilListening(timeout: 10) }
        let hasEnded = OneTimeFlag()
        let task = Task {
            defer {
                listening.cancel()
                _ = hasEnded.raise()
            }
            try await server.run()
        }
        do {
            try await listening.value
        } catch {
            await server.stop()
            do {
                try await task.value
            } catch SocketError.failed(_, let code, let message) {
                throw SocketFailure(operation: "listen on \(host):\(wantedPort)", code: code, message: message)
            }
            throw error
        }
        guard case .ip4(_, let port) = await server.listeningAddress else {
            await server.stop()
            throw SocketFailure(operation: "listen on \(host):\(wantedPort)", code: 0, message: "no address")
        }
        running.withLock { $0 = Running(server: server, task: task, port: port, hasEnded: hasEnded) }
    }

    /// Stops listening and closes every connection. Does nothing if the server is not running.
    public func stop() async {
        _ = await starting.withLock(\.self)?.result
        let stopped = running.withLock { running in
            defer { running = nil }
            return running
        }
        await stopped?.server.stop()
        // The result is discarded, as in ``waitUntilStopped()``; once the task ends, its descriptors are closed.
        _ = await stopped?.task.result
    }

    /// Waits until the server has ended, because of ``stop()`` or a failure of its socket.
    public func waitUntilStopped() async {
        guard let task = running.withLock({ $0?.task }) else { return }
        _ = await task.result
    }

    /// The server that runs; `nil` also after it has ended by itself.
    private var current: Running? { running.withLock { $0?.hasEnded.isRaised == false ? $0 : nil } }

    /// The port that the server listens on; before the start, the requested port, which may be 0.
    public var port: UInt16 { current?.port ?? wantedPort }

    /// The scheme, host and port, such as `http://127.0.0.1:3000`.
    public var baseURL: String { "http://\(host):\(port)" }

    private static func response(_ request: DemoRequest) async -> FlyingFox.HTTPResponse {
        do {
            return try await route(request).response(to: request.method)
        } catch let refusal as DemoRefusal {
            return refused(refusal, to: request.method)
        } catch {
            return refused(DemoRefusal(status: 500, message: "\(error)"), to: request.method)
        }
    }

    private static func route(_ request: DemoRequest) async throws -> DemoResponse {
        let matches = routes.compactMap { route in route.match(request.path).map { (route, $0) } }
        guard let (route, value) = matches.first(where: { $0.0.accepts(request.method) }) else {
            try await request.drainBody()
            guard let other = matches.first?.0 else {
                throw DemoRefusal(status: 404, message: "no route for \(request.path)")
            }
            throw DemoRefusal(status: 405, message: "\(other.path) takes \(other.methods.joined(separator: ", "))")
        }
        var request = request
        request.value = value
        // FlyingFox would parse the rest of a body that a route does not read as the next request.
        if !route.readsBody { try await request.drainBody() }
        return try await route.response(request)
    }

    private static func refused(_ refusal: DemoRefusal, to method: String) -> FlyingFox.HTTPResponse {
        let body = Data("{\"error\":\"\(refusal.message.filter { $0 != "\"" && $0 != "\\" })\"}".utf8)
        return DemoResponse(
            status: refusal.status,
            fields: [("Content-Type", "application/json")],
            body: .data(body)
        ).response(to: method)
    }
}
