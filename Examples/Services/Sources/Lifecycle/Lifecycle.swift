// A dispatcher in a ServiceGroup: after SIGTERM the running request completes, and new requests are refused. A shutdown
// that takes longer than the group allows ends at once.
import CurlTransport
@preconcurrency import Glibc
import Logging
import NetworkCore
import NetworkTesting
import ServiceLifecycle

/// The part of the program that uses the dispatcher. Here it sends SIGTERM once the request has reached the server.
struct Caller: Service {
    let server: ScriptedServer

    func run() async throws {
        // Further requests may have arrived by now.
        try await server.wait { !$0.requests.isEmpty }
        kill(getpid(), SIGTERM)
        try await gracefulShutdown()
    }
}

@main
struct Lifecycle {
    static func main() async throws {
        let gate = Gate()
        let server = try ScriptedServer([
            .read, .wait(until: gate), .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate"),
        ])
        defer { server.stop() }
        let dispatcher = CurlNetworkDispatcher()
        let group = ServiceGroup(
            services: [dispatcher, Caller(server: server)],
            gracefulShutdownSignals: [.sigterm],
            logger: Logger(label: "Lifecycle")
        )
        var request = TransportRequest(url: try RequestURL(server.url()))
        request.options.totalTimeout = .seconds(20)
        let first = request
        let running = Task { try await dispatcher.send(first).body.collect() }
        let ending = Task { try await group.run() }
        try await server.wait { !$0.requests.isEmpty }

        request.options.totalTimeout = .milliseconds(50)
        while true {
            do {
                _ = try await dispatcher.send(request)
            } catch let error as NetworkError where error.code == .shutDown {
                print("a new request is refused: \(error.code.rawValue)")
                break
            } catch let error as NetworkError where error.code == .totalTimeout {
                // The shutdown has not begun yet.
                continue
            }
        }
        gate.open()
        print("the running request completed: \(String(decoding: try await running.value, as: UTF8.self))")
        try await ending.value
        print("the group has ended")
        try await endLate()
    }

    /// Shuts down while a request runs that never ends.
    private static func endLate() async throws {
        let server = try ScriptedServer([.read, .stall])
        defer { server.stop() }
        let dispatcher = CurlNetworkDispatcher()
        var configuration = ServiceGroupConfiguration(
            services: [dispatcher, Caller(server: server)], gracefulShutdownSignals: [.sigterm],
            logger: Logger(label: "Lifecycle"))
        configuration.maximumGracefulShutdownDuration = .milliseconds(200)
        configuration.maximumCancellationDuration = .seconds(10)
        let request = TransportRequest(url: try RequestURL(server.url()))
        let running = Task { try await dispatcher.send(request).body.collect() }
        do {
            try await ServiceGroup(configuration: configuration).run()
        } catch is CancellationError {
            // A group that cancels its services may say so.
        }
        do { _ = try await running.value } catch let error as NetworkError {
            print("a shutdown that takes too long is cancelled: \(error.code.rawValue)")
        }
    }
}
