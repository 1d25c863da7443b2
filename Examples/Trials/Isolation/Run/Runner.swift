import Foundation
import NetworkLayer
import NetworkTesting

/// Runs sequences, each over its own dispatcher.
final class Runner: Sendable {
    let peer: Peer
    let folder: String
    private let full: FullListener

    init(peer: Peer, folder: String) throws {
        self.peer = peer
        self.folder = folder
        full = try FullListener()
    }

    /// The outcomes of a sequence.
    struct Run: Sendable {
        var observations: [Observation] = []
        var requests: [SeenRequest] = []
        /// The faults that need no comparison.
        var faults: [String] = []
    }

    /// Runs a sequence.
    /// - Parameter first: The number of the first step, so that a step alone has the same number as in its sequence.
    func run(_ steps: [Step], first: Int = 0) async -> Run {
        peer.log.begin()
        var configuration = CurlNetworkDispatcher.Configuration()
        configuration.maximumConnectionsPerOrigin = 1
        configuration.maximumQueued = 1
        let dispatcher = CurlNetworkDispatcher(configuration: configuration)
        var run = Run()
        var decoys: [Task<Observation, Never>] = []
        for (index, step) in steps.enumerated() {
            run.observations.append(await perform(step, number: first + index, over: dispatcher))
            await settle()
            let wasSilent = step.outcome.ground == .nameless || step.kind.name == "doh-silent"
            if wasSilent, await !isQuiet("silent", within: 6_000) {
                run.faults.append("lookup outlives its request: the name service connection is open after \(step)")
            }
            for _ in 0..<step.outcome.helpers {
                decoys.append(await decoy(number: decoys.count, step: first + index, over: dispatcher))
            }
        }
        peer.log.signal("decoys").fire()
        for decoy in decoys { _ = await decoy.value }
        return await finish(run, steps, first, dispatcher)
    }

    /// Runs all steps at once, over one dispatcher.
    func runAtOnce(_ steps: [Step]) async -> Run {
        peer.log.begin()
        let dispatcher = CurlNetworkDispatcher()
        var run = Run()
        run.observations = await withTaskGroup(of: (Int, Observation).self) { group in
            for (index, step) in steps.enumerated() {
                group.addTask { (index, await self.perform(step, number: index, over: dispatcher, limit: .seconds(2))) }
            }
            return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
        return await finish(run, steps, 0, dispatcher)
    }

    private func finish(_ run: Run, _ steps: [Step], _ first: Int, _ dispatcher: CurlNetworkDispatcher) async -> Run {
        var run = run
        await dispatcher.shutDown(within: .zero)
        if await !isQuiet("", within: 10_000) {
            run.faults.append("connections outlive their dispatcher: \(peer.log.openWays)")
        }
        run.requests = peer.log.requests
        for index in steps.indices {
            let isPacked = steps[index].kind.name == "get-version-2-prior"
            run.observations[index].wire = Wire.lines(of: first + index, in: run.requests, isPacked: isPacked)
        }
        return run
    }

    /// Sends a request that takes the handle that a helper used last, so that the next step gets the handle below it.
    ///
    /// The request lasts until the sequence is over.
    private func decoy(number: Int, step: Int, over dispatcher: CurlNetworkDispatcher) async -> Task<Observation, Never>
    {
        let arrived = peer.log.signal("decoy \(number)")
        let url = "http://decoy-\(number).localhost:\(peer.one)/decoy/s\(step)/\(number)"
        let task = Task {
            defer { arrived.fire() }
            guard let url = try? RequestURL(url) else { return Observation() }
            let helper = Step(Kind("helper"), Outcome("decoy"))
            return await Attempt(step: helper, request: TransportRequest(url: url), dispatcher: dispatcher).run()
        }
        await arrived.wait()
        return task
    }

    /// Waits until the peer has completed its part of the step. If the peer ends a connection after a whole response
    /// without announcing it, the thread schedule would otherwise decide whether the connection serves the next step.
    private func settle() async {
        // A busy machine keeps the peer's thread from it for seconds.
        for _ in 0..<6_000 {
            if peer.log.isSettled { return }
            try? await Task.sleep(for: .milliseconds(1))
        }
    }

    /// Returns whether the connections of a listener end in time, those included that the peer has yet to accept: a
    /// request that was cancelled at once would else arrive in the next sequence.
    private func isQuiet(_ listener: String, within milliseconds: Int) async -> Bool {
        for _ in 0..<milliseconds {
            if !peer.hasWaitingConnections, !peer.log.openWays.contains(where: { $0.hasPrefix(listener) }) {
                return true
            }
            try? await Task.sleep(for: .milliseconds(1))
        }
        return false
    }

    func place(_ step: Step, number: Int, outcome: String? = nil) -> Place {
        func port(_ own: UInt16) -> Int {
            switch step.outcome.ground {
            case .peer, .nameless: Int(own)
            case .full: Int(full.port)
            case .silent: Int(peer.silent)
            }
        }
        return Place(
            kind: step.kind.name, outcome: outcome ?? step.outcome.name, step: number, one: port(peer.one),
            two: port(peer.two), proxyPort: port(peer.proxy), silent: Int(peer.silent), unixPath: peer.unixPath,
            abstractName: peer.abstractName, folder: folder)
    }

    private static let lookUpTime = Duration.milliseconds(600)

    /// Performs one step.
    /// - Parameter limit: The longest total timeout.
    private func perform(
        _ step: Step, number: Int, over dispatcher: CurlNetworkDispatcher, limit: Duration? = nil
    ) async -> Observation {
        peer.log.begin(step: number, outcome: step.outcome.name)
        defer { for name in ["done", "release", "read"] { peer.log.signal("\(name) s\(number)").fire() } }
        do {
            let place = place(step, number: number)
            var request = try step.kind.request(place)
            if let limit { request.options.totalTimeout = min(limit, request.options.totalTimeout ?? limit) }
            prepare(&request, for: step, place)
            let attempt = Attempt(step: step, request: request, dispatcher: dispatcher)
            return try await act(attempt, step, number)
        } catch {
            var observation = Observation()
            observation.result = ["can't be created: \(error)"]
            return observation
        }
    }

    /// Sets the options that bring the outcome about.
    private func prepare(_ request: inout TransportRequest, for step: Step, _ place: Place) {
        switch step.outcome.act {
        case .sendRefused: request.options.rate.maximumSentPerSecond = 0
        case .timeOutQueued: request.options.totalTimeout = .milliseconds(20)
        case .timeOut(.connect): request.options.connectTimeout = .milliseconds(40)
        case .timeOut(.idle): request.options.idleTimeout = .milliseconds(40)
        case .timeOut(.total): request.options.totalTimeout = .milliseconds(60)
        case .timeOut(.firstByte): request.options.firstByteTimeout = .milliseconds(40)
        default: break
        }
        if step.outcome.ground == .nameless {
            request.options.names.dnsOverHTTPS = "https://127.0.0.1:\(place.silent)/dns-query"
            // An abandoned lookup ends at the connect timeout that it started with.
            let timeout = request.options.connectTimeout ?? Self.lookUpTime
            request.options.connectTimeout = min(timeout, Self.lookUpTime)
            let scheme = request.url.scheme
            let url = "\(scheme)://unknown.localtest:\(place.one)\(request.url.path)"
            if let url = try? RequestURL(url) { request.url = url }
        }
    }
}
