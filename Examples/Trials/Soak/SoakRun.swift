import Foundation
import NetworkLayer
import NetworkTesting
import TrialSupport

/// Rounds of random requests to random servers, until the time is over.
struct SoakRun {
    let client: Faults.Client
    let seed: UInt64
    let ledger = Ledger()

    /// The longest round, in seconds, before it counts as hanging. Every request of it has a timeout of a few seconds.
    private static let longestRound = 120.0
    private static let requestsPerRound = 200

    private var atOnce: Int { client == .curl ? 32 : 6 }

    /// Runs one era: rounds with one dispatcher, which then shuts down.
    /// - Parameter minimum: The least number of rounds, even if the time is over.
    func era(seconds: Double, firstRound: Int, atLeast minimum: Int = 0) async throws -> Int {
        let end = Date(timeIntervalSinceNow: seconds)
        var number = firstRound
        switch client {
        case .urlsession:
            while Date.now < end || number < firstRound + minimum {
                try await round(number, over: URLSessionNetworkDispatcher.shared)
                number += 1
            }
        case .curl:
            let dispatcher = CurlNetworkDispatcher()
            while Date.now < end || number < firstRound + minimum {
                try await round(number, over: dispatcher)
                number += 1
            }
            await dispatcher.shutDown(within: .seconds(5))
        }
        return number
    }

    private func round(_ number: Int, over transport: any HTTPTransport) async throws {
        var random = SeededGenerator(seed: seed &+ UInt64(number) &* 1_000_003)
        let hasBodies = random.oneIn(3)
        let faults = Faults(client: client, hasBodies: hasBodies)
        let scripts = (0..<Self.requestsPerRound).map { _ in faults.script(using: &random) }
        let server = try ScriptedServer(scripts: scripts + [.raw("HTTP/1.1 200 OK\r\nX-Length: 0\r\n\r\n")])
        let requests = try (0..<Self.requestsPerRound).map { _ in
            try SoakRequest(server.url(), hasBody: hasBodies, using: &random)
        }
        ledger.begin(requests.count)
        let isOver = watch(round: number, requests: requests)
        await withTaskGroup(of: Void.self) { group in
            var next = 0
            while next < requests.count {
                if next >= atOnce { await group.next() }
                let (index, request, ledger) = (next, requests[next], ledger)
                group.addTask { await request.run(over: transport, number: index, ledger: ledger) }
                next += 1
            }
        }
        isOver.signal()
        ledger.end()
        server.stop()
        try await server.wait { $0.endedConnectionCount == $0.connectionCount }
    }

    /// Ends the process if a round hangs, and prints the requests without an outcome.
    /// - Returns: The semaphore to signal at the end of the round.
    private func watch(round: Int, requests: [SoakRequest]) -> DispatchSemaphore {
        let isOver = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [ledger] in
            guard isOver.wait(timeout: .now() + Self.longestRound) == .timedOut else { return }
            let open = ledger.open
            print("round \(round) hangs: \(open.count) requests have no outcome")
            for number in open.prefix(20) {
                print("  \(number): \(requests[number].caller), \(requests[number].request)")
            }
            print(ledger.text)
            exit(1)
        }
        return isOver
    }
}
