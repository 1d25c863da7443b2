import NetworkCore
import FlyingFox
import FlyingSocks
import Foundation
import Synchronization

/// A small HTTP server for demonstrations and tests: JSON, echo, statuses, delays, sizes, gzip, redirects. It listens
/// on 127.0.0.1 unless told otherwise.
///
/// ```swift
/// let server = DemoServer()
/// try await server.start()
/// let users: [User] = try await GetUsers(at: server.baseURL).send().body
/// await server.stop()
/// ```
///
/// ``routes`` lists what it answers. It answers 404 elsewhere, 405 for a method that a route does not take, and 400 for
/// a value out of range, each with a JSON body that says why. To see what is on the wire, or to answer wrongly, use
/// ``ScriptedServer``.
public final class DemoServer: Sendable {
    private struct Running {
        let server: HTTPServer
        let task: Task<Void, any Error>
        let port: UInt16
    }

    private let host: String
    private let wantedPort: UInt16
    private let isLogging: Bool
    private let running = Guarded<Running?>(nil)

    /// A server that does not listen yet.
    /// - Parameters:
    ///   - port: Where to listen; 0, the default, takes a free port.
    ///   - host: The IPv4 address to listen on. It knows no access control: other addresses than loopback are for
    ///     containers.
    ///   - logging: Whether connections and requests are printed to standard output.
    public init(port: UInt16 = 0, host: String = "127.0.0.1", logging: Bool = false) {
        self.host = host
        wantedPort = port
        isLogging = logging
    }

    /// Starts, and returns when the server listens. Without effect on a server that runs.
    /// - Throws: ``SocketFailure`` when host and port can't be had.
    public func start() async throws {
        guard running.withLock({ $0 == nil }) else { return }
        // The framework below waits out its timeout when a port is taken, so a wanted port is tried first.
        if wantedPort != 0 { try LoopbackSocket.listening(on: wantedPort, backlog: 1).close() }
        var logger: any Logging = .disabled
        if isLogging { logger = PrintLogger(category: "DemoServer") }
        let server = HTTPServer(
            address: try .inet(ip4: host, port: wantedPort),
            timeout: 120,
            pool: PromptSocketPool(SocketPool(queue: EpollQueue())),
            logger: logger,
            handler: ClosureHTTPHandler { await Self.answer(DemoRequest($0)) }
        )
        let listening = Task { try await server.waitUntilListening(timeout: 10) }
        let task = Task {
            defer { listening.cancel() }
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
        running.withLock { $0 = Running(server: server, task: task, port: port) }
    }

    /// Stops listening and ends every connection. Without effect on a server that does not run.
    public func stop() async {
        let stopped = running.withLock { running in
            defer { running = nil }
            return running
        }
        await stopped?.server.stop()
        // How it ended is what ``waitUntilStopped()`` hides too; then its descriptors are closed.
        _ = await stopped?.task.result
    }

    /// Waits until the server has ended, by ``stop()`` or by a failure of its socket.
    public func waitUntilStopped() async {
        guard let task = running.withLock({ $0?.task }) else { return }
        _ = await task.result
    }

    /// The port that it listens on; the wanted one, 0 included, before the start.
    public var port: UInt16 { running.withLock { $0?.port } ?? wantedPort }

    /// Scheme, host and port: `http://127.0.0.1:3000`.
    public var baseURL: String { "http://\(host):\(port)" }

    private static func answer(_ request: DemoRequest) async -> FlyingFox.HTTPResponse {
        do {
            return try await route(request).response(to: request.method)
        } catch let refusal as DemoRefusal {
            return refused(refusal, to: request.method)
        } catch {
            return refused(DemoRefusal(status: 500, message: "\(error)"), to: request.method)
        }
    }

    private static func route(_ request: DemoRequest) async throws -> DemoAnswer {
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
        // What a route leaves unread would be taken for the next request.
        if !route.readsBody { try await request.drainBody() }
        return try await route.answer(request)
    }

    private static func refused(_ refusal: DemoRefusal, to method: String) -> FlyingFox.HTTPResponse {
        let body = Data("{\"error\":\"\(refusal.message.filter { $0 != "\"" && $0 != "\\" })\"}".utf8)
        return DemoAnswer(
            status: refusal.status,
            fields: [("Content-Type", "application/json")],
            body: .data(body)
        ).response(to: method)
    }
}
