import Foundation
import NetworkLayer
import NetworkTesting

/// Runs sequences, each over a dispatcher of its own.
final class Runner: Sendable {
    let peer: Peer
    let folder: String
    private let full: FullListener

    init(peer: Peer, folder: String) throws {
        self.peer = peer
        self.folder = folder
        full = try FullListener()
    }

    /// What a sequence came to.
    struct Run: Sendable {
        var observations: [Observation] = []
        var requests: [SeenRequest] = []
        /// What is wrong whatever it is compared with.
        var faults: [String] = []
    }

    /// - Parameter first: The number of the first step, so that one step alone has the number it has in a sequence.
    func run(_ steps: [Step], first: Int = 0) async -> Run {
        peer.log.begin()
        var configuration = CurlConfiguration()
        configuration.maximumConnectionsPerHost = 1
        configuration.maximumWaiting = 1
        let dispatcher = CurlNetworkDispatcher(configuration: configuration)
        var run = Run()
        var decoys: [Task<Observation, Never>] = []
        for (index, step) in steps.enumerated() {
            run.observations.append(await perform(step, number: first + index, over: dispatcher))
            if step.outcome.ground == .nameless, await !isQuiet("silent", within: 1_000) {
                run.faults.append("lookup outlives its request: the name service's connection is open after \(step)")
            }
            for _ in 0..<step.outcome.helpers {
                decoys.append(await decoy(number: decoys.count, step: first + index, over: dispatcher))
            }
        }
        peer.log.signal("decoys").fire()
        for decoy in decoys { _ = await decoy.value }
        await dispatcher.shutDown(within: .zero)
        if await !isQuiet("", within: 5_000) {
            run.faults.append("connections outlive their dispatcher: \(peer.log.openWays)")
        }
        run.requests = peer.log.requests
        for index in steps.indices {
            run.observations[index].wire = Wire.lines(of: first + index, in: run.requests, peer: peer)
        }
        return run
    }

    /// A request that takes the handle which a helper used last, so that the next step gets the one below; it lasts until the
    /// sequence is over.
    private func decoy(number: Int, step: Int, over dispatcher: CurlNetworkDispatcher) async -> Task<Observation, Never> {
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

    /// Whether the connections of a listener come to their end.
    private func isQuiet(_ listener: String, within milliseconds: Int) async -> Bool {
        for _ in 0..<milliseconds {
            if !peer.log.openWays.contains(where: { $0.hasPrefix(listener) }) { return true }
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

    private func perform(_ step: Step, number: Int, over dispatcher: CurlNetworkDispatcher) async -> Observation {
        peer.log.begin(step: number, outcome: step.outcome.name)
        defer { for name in ["done", "release", "read"] { peer.log.signal("\(name) s\(number)").fire() } }
        do {
            let place = place(step, number: number)
            var request = try step.kind.request(place)
            prepare(&request, for: step, place)
            let attempt = Attempt(step: step, request: request, dispatcher: dispatcher)
            return try await act(attempt, step, number)
        } catch {
            var observation = Observation()
            observation.result = ["can't be made: \(error)"]
            return observation
        }
    }

    /// The options by which the outcome comes about.
    private func prepare(_ request: inout TransportRequest, for step: Step, _ place: Place) {
        switch step.outcome.act {
        case .sendRefused: request.options.rate.maximumSent = 0
        case .timeOutQueued: request.options.totalTimeout = .milliseconds(20)
        case .timeOut(.connect): request.options.connectTimeout = .milliseconds(40)
        case .timeOut(.idle): request.options.idleTimeout = .milliseconds(40)
        case .timeOut(.total): request.options.totalTimeout = .milliseconds(60)
        case .timeOut(.firstByte): request.options.firstByteTimeout = .milliseconds(40)
        default: break
        }
        if step.outcome.ground == .nameless {
            request.options.names.dnsOverHTTPS = "https://127.0.0.1:\(place.silent)/dns-query"
            let scheme = request.url.scheme
            let url = "\(scheme)://unknown.localtest:\(place.one)\(request.url.path)"
            if let url = try? RequestURL(url) { request.url = url }
        }
    }

    private func act(_ attempt: Attempt, _ step: Step, _ number: Int) async throws -> Observation {
        switch step.outcome.act {
        case .send, .sendRefused, .timeOut, .dropBody: return await attempt.run()
        // It cancels its own task.
        case .cancelBody: return await Task { await attempt.run() }.value
        case .sendAfterOne:
            let place = place(step, number: number, outcome: "prelude")
            let request = TransportRequest(url: try place.url(step.kind.site), options: attempt.request.options)
            _ = await Attempt(step: step, request: request, dispatcher: attempt.dispatcher).run()
            return await attempt.run()
        case .sendAndAwaitSurplus:
            let observation = await attempt.run()
            peer.log.signal("read s\(number)").fire()
            // Where the answer was refused or never came there is none.
            if observation.body.hasPrefix("answer"), step.kind.pipeline == nil {
                await peer.log.signal("surplus s\(number)").wait()
            }
            return observation
        case .sendOverloaded, .cancelQueued, .timeOutQueued: return try await queued(attempt, step, number)
        case .cancel(let point):
            return await cancelled(attempt, at: peer.log.signal(point == "silent" ? "silent s\(number)" : "\(point) s\(number)"))
        case .cancelAfter(let milliseconds):
            let task = Task { await attempt.run() }
            if milliseconds > 0 { try? await Task.sleep(for: .milliseconds(milliseconds)) }
            task.cancel()
            return await task.value
        }
    }

    private func cancelled(_ attempt: Attempt, at signal: Signal) async -> Observation {
        let task = Task { await attempt.run() }
        let canceller = Task {
            await signal.wait()
            task.cancel()
        }
        let observation = await task.value
        signal.fire()
        await canceller.value
        return observation
    }

    /// Its origin's only place is taken by another request, and so is the waiting room if it is to be refused.
    private func queued(_ attempt: Attempt, _ step: Step, _ number: Int) async throws -> Observation {
        let holding = peer.log.signal("holding s\(number)")
        let release = peer.log.signal("release s\(number)")
        let helper = try helper(of: step, number)
        let holder = Task {
            _ = await Attempt(step: helper.0, request: helper.1, dispatcher: attempt.dispatcher).run()
            holding.fire()
        }
        await holding.wait()
        var second: Task<Observation, Never>?
        if step.outcome.act == .sendOverloaded {
            second = Task { await Attempt(step: helper.0, request: helper.1, dispatcher: attempt.dispatcher).run() }
            try await Task.sleep(for: .milliseconds(5))
        }
        let task = Task { await attempt.run() }
        if step.outcome.act == .cancelQueued {
            try await Task.sleep(for: .milliseconds(5))
            task.cancel()
        }
        let observation = await task.value
        release.fire()
        await holder.value
        _ = await second?.value
        return observation
    }

    /// A plain request to the same origin, which reaches the peer whatever the kind's way is.
    private func helper(of step: Step, _ number: Int) throws -> (Step, TransportRequest) {
        let place = place(step, number: number, outcome: "hold")
        var request = TransportRequest(url: try place.url(step.kind.site))
        request.options.proxy = .none
        request.options.names.connectTo = [.init(toHost: "127.0.0.1", toPort: place.one)]
        if step.kind.isSecure { request.options.tls.authorities = place.authorities }
        return (Step(Kind("helper"), Outcome("hold")), request)
    }
}
