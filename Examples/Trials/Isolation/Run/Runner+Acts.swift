import NetworkLayer

/// The caller's actions for an outcome.
extension Runner {
    func act(_ attempt: Attempt, _ step: Step, _ number: Int) async throws -> Observation {
        switch step.outcome.act {
        case .send, .sendRefused, .timeOut, .dropBody: return await attempt.run()
        // The attempt cancels its own task.
        case .cancelBody: return await Task { await attempt.run() }.value
        case .sendAfterOne:
            let place = place(step, number: number, outcome: "prelude")
            let request = TransportRequest(url: try place.url(step.kind.site), options: attempt.request.options)
            _ = await Attempt(step: step, request: request, dispatcher: attempt.dispatcher).run()
            return await attempt.run()
        case .sendAndAwaitSurplus:
            let observation = await attempt.run()
            peer.log.signal("read s\(number)").fire()
            // There is no surplus if the response was refused or never arrived.
            if observation.body.hasPrefix("answer"), step.kind.pipeline == nil {
                await peer.log.signal("surplus s\(number)").wait()
            }
            return observation
        case .sendOverloaded, .cancelQueued, .timeOutQueued: return try await queued(attempt, step, number)
        case .cancel(let point):
            return await cancelled(
                attempt, at: peer.log.signal(point == "silent" ? "silent s\(number)" : "\(point) s\(number)"))
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

    /// Sends while another request has the only place of the origin, and a third one the queue if it is to be refused.
    private func queued(_ attempt: Attempt, _ step: Step, _ number: Int) async throws -> Observation {
        let holding = peer.log.signal("holding s\(number)")
        let release = peer.log.signal("release s\(number)")
        let helper = try helper(of: step, number)
        let holder = Task {
            _ = await Attempt(step: helper.0, request: helper.1, dispatcher: attempt.dispatcher).run()
            holding.fire()
        }
        await holding.wait()
        var others: [Task<Void, Never>] = []
        if step.outcome.act == .sendOverloaded {
            // The queue is full as soon as one of the two is refused, no matter which comes first.
            let refused = peer.log.signal("refused s\(number)")
            for _ in 0..<2 {
                others.append(
                    Task {
                        _ = await Attempt(step: helper.0, request: helper.1, dispatcher: attempt.dispatcher).run()
                        refused.fire()
                    })
            }
            await refused.wait()
        }
        let task = Task { await attempt.run() }
        if step.outcome.act == .cancelQueued {
            try await Task.sleep(for: .milliseconds(5))
            task.cancel()
        }
        let observation = await task.value
        release.fire()
        await holder.value
        for other in others { await other.value }
        return observation
    }

    /// Returns a plain request to the same origin, which reaches the peer regardless of the kind's way.
    private func helper(of step: Step, _ number: Int) throws -> (Step, TransportRequest) {
        let place = place(step, number: number, outcome: "hold")
        var request = TransportRequest(url: try place.url(step.kind.site))
        request.options.proxy = .none
        request.options.names.connectTo = [.init(toHost: "127.0.0.1", toPort: place.one)]
        if step.kind.isSecure { request.options.tls.authorities = place.authorities }
        return (Step(Kind("helper"), Outcome("hold")), request)
    }
}
