import CurlTransport
import Foundation
import NetworkCore
import NetworkResilience
import TrialSupport

/// Balancing over the addresses of a name, while one is slow, one is gone, and the name changes:
///
///     Balancing PORT SECONDS      PORT of scripts/peers/addresses, whose control is at the next one
@main
struct Balancing {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst().compactMap { Double($0) }
        guard arguments.count == 2 else {
            print("usage: Balancing PORT SECONDS")
            exit(2)
        }
        do {
            let faults = try await Trial(port: Int(arguments[0]), phase: .seconds(arguments[1])).run()
            for fault in faults { print("FAULT: \(fault)") }
            exit(faults.isEmpty ? 0 : 1)
        } catch {
            print("\(error)")
            exit(1)
        }
    }
}

struct Trial {
    let port: Int
    let phase: Duration
    private static let (one, two, three) = ("127.0.0.1", "127.0.0.2", "127.0.0.3")
    private static let slowness = 0.1

    func run() async throws -> [String] {
        let plain = Arm((0..<3).map { _ in client().resilient() })
        var options = AddressBalancer.Options()
        (options.refreshInterval, options.slowStart) = (.milliseconds(500), phase / 4)
        let balancer = AddressBalancer(options: options)
        let balanced = Arm([client().balanced(balancer).resilient()])

        var table = TextTable("clients", "phase", ".1", ".2", ".3", "p50 ms", "p99 ms", "CPU µs", "requests", "errors")
        var faults: [String] = []
        func row(_ arm: Arm, _ name: String, _ phase: String, _ during: @Sendable () async throws -> Void = {})
            async throws
            -> Ledger
        {
            let before = ProcessFigures.now.cpuMilliseconds
            let ledger = try await arm.send(for: self.phase, during)
            let cost = (ProcessFigures.now.cpuMilliseconds - before) * 1_000 / max(1, ledger.count)
            let shares = [Self.one, Self.two, Self.three].map { ledger.percent($0) }
            table.add(
                name, phase, shares[0], shares[1], shares[2], ledger.time(0.5), ledger.time(0.99), "\(cost)",
                "\(ledger.count)",
                "\(ledger.errors.count)")
            return ledger
        }
        func expect(_ condition: Bool, _ words: String) { if !condition { faults.append(words) } }

        let plainAll = try await row(plain, "three, each alone", "all well")
        let all = try await row(balanced, "balanced", "all well")
        // The system's resolver sorts, and so a client alone uses the first one.
        try await control("slow/\(Self.one)/\(Self.slowness)")
        let plainSlow = try await row(plain, "three, each alone", ".1 slow")
        let slow = try await row(balanced, "balanced", ".1 slow")
        let gone = try await row(balanced, "balanced", ".1 slow, .2 killed") {
            try await control("kill/\(Self.two)")
        }
        try await control("start/\(Self.two)")
        try await control("slow/\(Self.one)/0")
        try await control("names/\(Self.one)")
        let changed = try await row(balanced, "balanced", "name: .1, then .2 and .3") {
            try await control("names/\(Self.two),\(Self.three)")
        }
        let after = try await row(balanced, "balanced", "name: .2 and .3")

        print(table.text)
        for ledger in [plainAll, all, slow, gone, changed, after] {
            expect(ledger.errors.isEmpty, "requests fail: \(ledger.errors.prefix(3))")
        }
        let everyone = [Self.one, Self.two, Self.three]
        expect(everyone.allSatisfy { all.share($0) > 0.15 }, "an address gets no fair share")
        expect(plainSlow.percentile(0.5) >= Self.slowness, "without balancing, requests were not slow either")
        expect(slow.share(Self.one) < 0.1, "the slow address gets too much")
        expect(slow.percentile(0.5) < Self.slowness / 2, "most requests are slow")
        expect(gone.share(Self.two) < slow.share(Self.two), "the dead address keeps its share")
        expect(after.share(Self.one) == 0, "an address that the name has lost is still used")
        expect(min(after.share(Self.two), after.share(Self.three)) > 0.05, "a new address of the name is not used")
        return faults
    }

    private func client() -> NetworkClient {
        NetworkClient(transport: CurlNetworkDispatcher(), baseURL: "http://peers.test:\(port)").with {
            $0.options.totalTimeout = .seconds(20)
        }
    }

    private func control(_ path: String) async throws {
        _ = try await NetworkClient(transport: CurlNetworkDispatcher.shared)
            .send(RequestData(url: "http://127.0.0.1:\(port + 1)/\(path)"), as: .text)
    }
}

/// Clients that send as a fleet: each of them a part of the requests.
struct Arm {
    let clients: [NetworkClient]
    private static let inFlight = 24

    init(_ clients: [NetworkClient]) { self.clients = clients }

    /// Sends requests for a time; `during` runs after a third of it.
    func send(for time: Duration, _ during: @Sendable () async throws -> Void) async throws -> Ledger {
        let end = ContinuousClock.now + time
        return try await withThrowingTaskGroup(of: Ledger.self) { group in
            for number in 0..<Self.inFlight {
                let client = clients[number % clients.count]
                group.addTask {
                    var ledger = Ledger()
                    while ContinuousClock.now < end { await ledger.send(over: client) }
                    return ledger
                }
            }
            try await Task.sleep(for: time / 3)
            try await during()
            return try await group.reduce(into: Ledger()) { $0.add($1) }
        }
    }
}

/// What became of requests.
struct Ledger: Sendable {
    private var byAddress: [String: Int] = [:]
    private var seconds: [Double] = []
    private(set) var errors: [String] = []

    var count: Int { seconds.count }

    mutating func send(over client: NetworkClient) async {
        let start = ContinuousClock.now
        do {
            let address = try await client.send(RequestData(path: "/"), as: .text).body
            byAddress[address, default: 0] += 1
        } catch { errors.append("\(error)") }
        seconds.append(start.duration(to: .now) / .seconds(1))
    }

    mutating func add(_ other: Ledger) {
        byAddress.merge(other.byAddress, uniquingKeysWith: +)
        seconds += other.seconds
        errors += other.errors
    }

    func share(_ address: String) -> Double { Double(byAddress[address] ?? 0) / Double(max(1, count)) }
    func percent(_ address: String) -> String { String(format: "%.1f %%", share(address) * 100) }

    func percentile(_ part: Double) -> Double {
        let sorted = seconds.sorted()
        return sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))]
    }

    func time(_ part: Double) -> String { String(format: "%.1f", percentile(part) * 1_000) }
}
