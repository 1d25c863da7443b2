import Foundation

/// The report of a group of findings: one of them is tried again, shrunk and printed as a test.
struct Report {
    let settings: Settings

    init(_ settings: Settings) { self.settings = settings }

    func text(of group: String, _ findings: [Finding], isShort: Bool) -> String {
        guard let example = findings.min(by: { $0.steps.count < $1.steps.count }) else { return "" }
        let shrinker = Shrinker(settings, title: example.title, isAtOnce: example.isAtOnce)
        var lines = ["", "==== \(group): \(findings.count)"]
        if isShort {
            lines += [example.text.split(separator: "\n").prefix(40).joined(separator: "\n")]
            lines += ["in \(example.command)"]
        } else if let short = shrinker.shrink(example.steps) {
            lines += [short.finding.text.split(separator: "\n").prefix(40).joined(separator: "\n")]
            if !example.isAtOnce {
                lines += ["", (try? shrinker.test(of: short.finding)) ?? "(no child for the test's scripts)", ""]
            }
            lines += [
                "in \(short.tries) of 3 tries, each in a new process:",
                "scripts/isolation --try \(short.finding.command)",
            ]
        } else {
            lines += [example.text.split(separator: "\n").prefix(40).joined(separator: "\n")]
            lines += ["NOT seen again in a process of its own; it was: \(example.command)"]
        }
        return lines.joined(separator: "\n")
    }
}
