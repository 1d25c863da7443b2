import Foundation
import NetworkLayer

/// Judges the outcomes of a sequence.
struct Judge {
    let runner: Runner
    let steps: [Step]
    let run: Runner.Run
    /// The number of the first step.
    var first = 0

    /// The faults of the sequence itself. Each starts with a short title.
    var faults: [String] {
        run.faults + strangers + doubles + mixUps() + sharing + late
    }

    /// The faults that can be judged if the order is not known.
    var faultsAtOnce: [String] { run.faults + strangers + doubles + mixUps(besides: followersOfForged) + late }

    /// No request may contain a secret of another kind.
    private var strangers: [String] {
        run.requests.flatMap { request -> [String] in
            guard let step = owner(of: request), steps.indices.contains(step - first) else { return [] }
            // A request that keeps a place busy has no secrets at all; a prelude has those of its step.
            let isPlain = request.isHelper && !request.head.contains("/prelude/")
            let own = isPlain ? "" : steps[step - first].kind.name
            let text = request.head + String(decoding: request.body.start, as: UTF8.self)
            let ownSecrets = Kind.named[own]?.secrets ?? []
            return steps.filter { $0.kind.name != own }.flatMap { other in
                other.kind.secrets.filter { text.contains($0) && !ownSecrets.contains($0) }.map { secret in
                    "another request's secret: \(steps[step - first]) carries '\(secret)' of \(other)\n\(request.head)"
                }
            }
        }
    }

    /// Returns the step of a request. A tunnel has no path; it belongs to the first request that went through it.
    private func owner(of request: SeenRequest) -> Int? {
        guard request.isTunnel else { return request.step }
        return run.requests.first { $0.connection == request.connection && !$0.isTunnel }?.step
    }

    /// The outcomes in which the peer or the caller requires the request to be sent again.
    private static let asksAgain: Set<String> = [
        "challenge-401", "challenge-again", "challenge-close", "challenge-404", "challenge-surplus", "challenge-407",
        "early-401", "http10-401", "http10-407", "redirect-307",
    ]

    private var doubles: [String] {
        steps.enumerated().compactMap { index, step in
            guard step.kind.isOneTime, !Self.asksAgain.contains(step.outcome.name) else { return nil }
            let posts = run.requests.filter { $0.step == index + first && $0.isExecution }
            guard posts.count > 1 else { return nil }
            return "executed \(posts.count) times: \(step)\n" + posts.map(\.head).joined(separator: "\n")
        }
    }

    /// A response must reach its own request.
    /// - Parameter others: The steps whose responses may reach another request.
    private func mixUps(besides others: Set<Int> = []) -> [String] {
        zip(steps, run.observations).enumerated().compactMap { index, pair in
            let (step, observation) = pair
            guard observation.body.hasPrefix("answer to ") else { return nil }
            let owner = observation.body.prefixMatch(of: /answer to \/[^\/]*\/s([0-9]+)\//).flatMap { Int($0.1) }
            if owner == index + first || owner.map(others.contains) == true { return nil }
            return "another request's response: \(step) got '\(observation.body)'"
        }
    }

    /// The steps whose requests were read on a connection on which the peer had sent a response to no request. If all
    /// steps run at once, that response may arrive when the next request is in flight, which then takes it for its own;
    /// the response to that request goes to the one after it.
    private var followersOfForged: Set<Int> {
        let forged = Set(run.requests.filter { $0.head.contains("/surplus-answer-late/") }.map(\.connection))
        return Set(run.requests.filter { forged.contains($0.connection) }.compactMap(\.step))
    }

    /// No outcome may take much longer than its timeouts. One that waits for the peer takes longer than this: see
    /// ``Signal/block()``.
    private var late: [String] {
        zip(steps, run.observations).compactMap { step, observation in
            observation.seconds < 18 ? nil : "late: \(step) took \(observation.seconds) s"
        }
    }

    /// All requests on one connection must agree about how it was made.
    private var sharing: [String] {
        let byConnection = Dictionary(grouping: run.requests.filter { !$0.isHelper && !$0.isLookUp }, by: \.connection)
        var faults: Set<String> = []
        for requests in byConnection.values {
            let users = requests.compactMap(owner).reduce(into: [Int]()) { if $0.last != $1 { $0.append($1) } }
            for (earlier, later) in zip(users, users.dropFirst()) {
                fault(earlier, later).map { _ = faults.insert($0) }
            }
        }
        return faults.sorted()
    }

    private func fault(_ earlier: Int, _ later: Int) -> String? {
        guard let one = sharing(earlier), let other = sharing(later) else { return nil }
        let pair = "\(steps[earlier - first]) then \(steps[later - first])"
        if other.isFresh { return "a reused connection for a request that requires a new one: \(pair)" }
        if one.forbidsReuse { return "a connection was reused although its request forbids that: \(pair)" }
        return one.difference(from: other).map {
            "a connection is shared across \($0): \(pair)"
        }
    }

    private func sharing(_ number: Int) -> Sharing? {
        guard steps.indices.contains(number - first), !steps[number - first].outcome.name.hasPrefix("redirect") else {
            return nil
        }
        return sharingAtFirst(number)
    }

    /// Returns the sharing rules of a step's first request, which a request to another place may follow.
    private func sharingAtFirst(_ number: Int) -> Sharing? {
        guard steps.indices.contains(number - first) else { return nil }
        let step = steps[number - first]
        return (try? step.kind.request(runner.place(step, number: number))).map(Sharing.init)
    }

    /// Returns how the last step differs from the same step alone.
    func differences(from alone: Observation) -> [String] {
        guard let last = run.observations.last, let step = steps.last else { return [] }
        if Exclusions.comparesNothing(steps) { return [] }
        var (parts, changes): ([String], [String]) = ([], [])
        func compare(_ name: String, _ lines: [String], _ other: [String]) {
            guard lines != other else { return }
            parts.append(name)
            for change in lines.difference(from: other) {
                switch change {
                case .insert(_, let line, _): changes.append("+ \(line)")
                case .remove(_, let line, _): changes.append("- \(line)")
                }
            }
        }
        compare("result", last.result, alone.result)
        compare("metrics", last.metrics, alone.metrics)
        compare("wire", last.wire, alone.wire)
        if parts.isEmpty { return [] }
        return [
            "differs from itself alone in \(parts.joined(separator: ", ")): \(step)\n" + changes.joined(separator: "\n")
        ]
    }
}
