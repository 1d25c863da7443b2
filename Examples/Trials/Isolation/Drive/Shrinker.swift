/// Makes a failing sequence shorter and simpler, as long as it fails in the same way.
struct Shrinker {
    let settings: Settings
    let title: String

    let isAtOnce: Bool

    init(_ settings: Settings, title: String, isAtOnce: Bool = false) {
        (self.settings, self.title, self.isAtOnce) = (settings, title, isAtOnce)
    }

    /// Shrinks a sequence.
    /// - Returns: The shortest failing sequence, and the number of its failures in three tries; `nil` if none failed.
    func shrink(_ steps: [Step]) -> (finding: Finding, tries: Int)? {
        guard var best = failure(of: steps, tries: 3) else { return nil }
        var isShorter = true
        while isShorter {
            isShorter = false
            for candidate in candidates(best.finding.steps) {
                guard let found = failure(of: candidate, tries: 1) else { continue }
                best = found
                isShorter = true
                break
            }
        }
        return failure(of: best.finding.steps, tries: 3) ?? best
    }

    /// Returns the sequences with one step less, or one step simpler.
    private func candidates(_ steps: [Step]) -> [[Step]] {
        var candidates: [[Step]] = []
        for index in steps.indices where steps.count > 1 {
            var shorter = steps
            shorter.remove(at: index)
            candidates.append(shorter)
        }
        for index in steps.indices {
            for plain in ["get@ok", "get@\(steps[index].outcome.name)", "\(steps[index].kind.name)@ok"] {
                guard let step = try? Step(plain), step.description != steps[index].description,
                    weight(step) < weight(steps[index])
                else { continue }
                var plainer = steps
                plainer[index] = step
                candidates.append(plainer)
            }
        }
        return candidates
    }

    private func weight(_ step: Step) -> Int {
        (step.kind.name == "get" ? 0 : 1) + (step.outcome.name == "ok" ? 0 : 1)
    }

    /// Returns the sequence as a test.
    func test(of finding: Finding) throws -> String {
        let child = try Child(settings, isTelling: true)
        defer { child.end() }
        _ = child.run(finding.steps, first: isAtOnce ? -1 : 0)
        let other = try Child(settings, isTelling: true)
        defer { other.end() }
        if let last = finding.steps.last { _ = other.run([last], first: finding.steps.count - 1) }
        let title = String(finding.text.prefix { $0 != "\n" })
        return TestPrinter(
            steps: finding.steps, title: title, scripts: child.transcript, scriptsAlone: other.transcript
        ).text
    }

    private func failure(of steps: [Step], tries: Int) -> (finding: Finding, tries: Int)? {
        var failed = 0
        var finding: Finding?
        for _ in 0..<tries {
            guard let child = try? Child(settings) else { continue }
            defer { child.end() }
            let texts: [String] =
                switch child.run(steps, first: isAtOnce ? -1 : 0) {
                case .done(let found): found
                case .ended(let how): ["the process ended by \(how)"]
                case .hung: ["the process hung"]
                }
            for text in texts {
                let other = Finding(steps: steps, text: text, isAtOnce: isAtOnce)
                guard other.title == title else { continue }
                failed += 1
                finding = other
                break
            }
        }
        return finding.map { ($0, failed) }
    }
}
