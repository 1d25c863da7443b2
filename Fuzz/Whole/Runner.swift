import CurlTransport
import Dispatch
import Foundation
import NetworkCore
import Synchronization

/// Runs scenarios, each over its own dispatcher, against one peer.
final class Runner {
    private let peer = Peer()
    private let folder: String
    private let current = ProcessState.variable("NETWORKLAYER_FUZZ_CURRENT")
    /// Whether each scenario's requests and outcomes are printed.
    private let isShown = ProcessState.variable("NETWORKLAYER_FUZZ_SHOW") != nil
    private var runs = 0
    private var goodHead: String?
    private var descriptors: [Int32]?
    private var threads: Int?

    init() {
        if ProcessState.variable("NETWORKLAYER_FUZZ_MEMORY") != "hooked" { ProcessState.takePlainMemory() }
        let shared = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
        folder = "\(shared)/netlayer-fuzz-\(ProcessInfo.processInfo.processIdentifier)"
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    /// A task and its outcome, which the runner's thread waits for.
    private final class Running: Sendable {
        private let outcome = Mutex<Outcome?>(nil)
        private let task = Mutex<Task<Void, Never>?>(nil)
        private let end = DispatchSemaphore(value: 0)

        func start(_ work: @escaping @Sendable () async -> Outcome, ended: @escaping @Sendable () -> Void) {
            task.withLock { task in
                task = Task.detached { [self] in
                    let result = await work()
                    ended()
                    outcome.withLock { $0 = result }
                    end.signal()
                }
            }
        }

        func cancel() { task.withLock { $0 }?.cancel() }

        func wait(seconds: Double) -> Outcome? {
            guard end.wait(timeout: .now() + seconds) == .success else { return nil }
            return outcome.withLock { $0 }
        }
    }

    func run(_ input: UnsafeBufferPointer<UInt8>) {
        runs += 1
        // If the process is killed without a message, its input remains in this file.
        if let current { try? Data(input).write(to: URL(fileURLWithPath: current)) }
        let scenario = Avoidance.applied(to: ScenarioReader.read(input, peer: peer.address))
        let log = LineLog()
        runOverDispatcher(scenario, log)
        let peerIsEmpty = peer.waitUntilQuiet(isEmpty: true, seconds: 10)
        check(.connections, peerIsEmpty, "connections outlive their dispatcher")
        checkProcess()
    }

    private func runOverDispatcher(_ scenario: Scenario, _ log: LineLog) {
        let dispatcher = CurlNetworkDispatcher(configuration: CurlNetworkDispatcher.Configuration())
        let running = scenario.asks.map { _ in Running() }
        peer.begin(scenario) { running[$0].cancel() }
        let exchanges = scenario.asks.enumerated().map {
            Exchange(ask: $1, number: $0, peer: peer.address, log: log)
        }
        let jar = CookieJar()
        var outcomes: [Outcome] = []
        for (number, exchange) in exchanges.enumerated() {
            var client = NetworkClient(transport: dispatcher)
            client.exchangeInterceptors = [.logging(log.logger)]
            client.redirectPolicy.maximumRedirects = 4
            if exchange.ask.has("keep-method") { client.redirectPolicy.keepsMethodOn = [301, 302] }
            if exchange.ask.has("cookies") { client.cookieJar = jar }
            let reading = Reading(client: client, exchange: exchange, path: "\(folder)/\(number)")
            running[number].start(reading.outcome) { [peer] in peer.ended(number) }
            if exchange.ask.has("cancelled") { running[number].cancel() }
            if exchange.ask.isJoined, number + 1 < exchanges.count { continue }
            while outcomes.count <= number { outcomes.append(wait(for: running[outcomes.count])) }
            check(.connections, peer.waitUntilQuiet(seconds: 10), "the peer can't send what is due")
        }
        let judge = Judge(exchanges: exchanges, outcomes: outcomes, log: log, peer: peer)
        if isShown { show(outcomes) }
        judge.checkOutcomes()
        sendGood(over: dispatcher, judge)
        judge.checkSeen()
        let end = DispatchSemaphore(value: 0)
        Task.detached {
            await dispatcher.shutDown(within: .zero)
            end.signal()
        }
        check(.outcome, end.wait(timeout: .now() + 10) == .success, "the dispatcher does not shut down")
    }

    private func show(_ outcomes: [Outcome]) {
        let lines = outcomes.map { "  outcome: \(Text.line(of: $0.text.utf8.prefix(400))), \($0.body.count) bytes\n" }
        ProcessState.printError(Finding.text(of: peer.seen) + lines.joined())
    }

    private func wait(for running: Running) -> Outcome {
        if let outcome = running.wait(seconds: 45) { return outcome }
        check(.outcome, false, "a request has no outcome")
        running.cancel()
        return Outcome()
    }

    /// Sends an ordinary request, and checks that nothing of the scenario affects it.
    private func sendGood(over dispatcher: CurlNetworkDispatcher, _ judge: Judge) {
        let (running, number) = (Running(), runs)
        let url = "http://\(peer.address.authority(.first))/good\(number)/"
        let client = NetworkClient(transport: dispatcher)
        let send: @Sendable () async -> Outcome = {
            do {
                let response = try await client.send(RequestData(path: url), as: .data)
                var outcome = Outcome(head: response.head)
                outcome.body = Array(response.body)
                return outcome
            } catch {
                var outcome = Outcome()
                outcome.error = error
                return outcome
            }
        }
        running.start(send) {}
        guard let outcome = running.wait(seconds: 45) else { return check(.good, false, "it has no outcome") }
        let isRight = outcome.status == 200 && outcome.body == Array("good \(number)\n".utf8)
        check(.good, isRight, "\(outcome.text) \(Text.line(of: outcome.body.prefix(200)))")
        for seen in peer.seen where seen.good == number {
            let head = seen.text.replacingOccurrences(of: "/good\(number)/", with: "/good/")
            let expected = goodHead ?? head
            goodHead = expected
            check(.wire, head == expected && seen.body.isEmpty, "it differs from \(Text.line(of: expected.utf8))")
        }
    }

    private func checkProcess() {
        var now = ProcessState.descriptors
        // The first scenarios open descriptors that the process keeps, such as the random source.
        if runs <= 3 { descriptors = now }
        let before = descriptors ?? now
        // A task that is just ending may hold the last reference to a descriptor.
        let end = Date(timeIntervalSinceNow: 10)
        while now.count > before.count, Date() < end {
            Thread.sleep(forTimeInterval: 0.001)
            // Delays in libdispatch use one timerfd each, which stays open.
            now = ProcessState.descriptors.filter { !ProcessState.names(of: [$0])[0].contains("timerfd") }
        }
        check(.descriptors, now.count <= before.count, "\(ProcessState.names(of: now)), but \(before) before")
        guard runs % 64 == 0 else { return }
        let count = ProcessState.threads
        let least = min(threads ?? count, count)
        threads = least
        check(.threads, count <= least + 32, "\(count) threads, \(least) were there")
    }

    private func check(_ oracle: Oracle, _ holds: Bool, _ text: @autoclosure () -> String) {
        if !holds, oracle.isAsked { Finding(oracle: oracle, text: text()).report(peer.seen) }
    }
}
