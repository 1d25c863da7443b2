import Foundation
import NetworkLayer
import NetworkTesting
import TrialSupport

/// Creates many dispatchers of the curl transport, uses each for one request, and shuts it down.
struct DispatcherLives {
    let count: Int

    /// Runs the dispatchers.
    /// - Returns: The faults: what the dispatchers left behind.
    func run() async throws -> [String] {
        let start = ProcessFigures.now
        try await lives(count / 10)
        let warm = await Settled.figures { _ in true }
        try await lives(count)
        // No growth per dispatcher: never a descriptor or a thread, and less memory than an object with a name takes.
        let bounds = Bounds(descriptors: 0, threads: 2, kilobytes: max(4_096, count * 4 / 10))
        let end = await Settled.figures { bounds.faults(warm, $0).isEmpty }
        print("\(count / 10) dispatchers to warm up, then \(count)\n")
        print(bounds.table(start, warm, end))
        return bounds.faults(warm, end)
    }

    private func lives(_ count: Int) async throws {
        var rest = count
        while rest > 0 {
            // Each thousand has its own server, because a server records its requests.
            let server = try ScriptedServer(.ok("x"))
            let request = TransportRequest(url: try RequestURL(server.url()))
            for _ in 0..<min(rest, 1_000) {
                let dispatcher = CurlNetworkDispatcher()
                _ = try await dispatcher.send(request).body.collect()
                await dispatcher.shutDown(within: .seconds(10))
            }
            rest -= min(rest, 1_000)
            server.stop()
            try await server.wait { $0.endedConnectionCount == $0.connectionCount }
        }
    }
}
