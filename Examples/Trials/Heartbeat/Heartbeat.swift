import Foundation
import CurlTransport
import NetworkCore
import TrialSupport

/// Tries to hold up the loop:
///
///     Heartbeat [--ci] [SCENARIO ...]
@main
struct Heartbeat {
    /// The longest time that a round may take.
    static let limit = Duration.milliseconds(50)
    /// The limit for the round of a loop's first TLS connection. It reads the system's authorities in one call of
    /// OpenSSL, which takes 20 to 50 ms for 140 of them.
    static let limitOfFirst = limit * 4
    /// The number of attempts before a scenario fails, because the machine's load can cause a fault too.
    private static let attempts = 3

    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        let names = Set(arguments.filter { $0 != "--ci" })
        let scenarios = Scenario.all.filter { names.isEmpty || names.contains($0.name) }
        guard names.count <= scenarios.count else {
            say("usage: Heartbeat [--ci] [SCENARIO ...], of: \(Scenario.all.map(\.name).joined(separator: ", "))")
            exit(2)
        }
        say("\(CurlNetworkDispatcher.shared.capabilities.basis)\n")
        var table = TextTable("scenario", "longest CPU time", "longest round", "wall clock", "rounds", "")
        var faults: [String] = []
        var longest = Duration.zero
        for scenario in scenarios {
            let beat = await run(scenario, isShort: arguments.contains("--ci"), &faults)
            longest = max(longest, beat.pulse.round)
            table.add(
                scenario.name, beat.pulse.computing.text, beat.pulse.round.text, beat.pulse.onTheClock.text,
                "\(beat.pulse.rounds)", beat.notes.joined(separator: "; "))
        }
        say("\n\(table.text)\n\nThe longest round: \(longest.text); the limit is \(limit.text)")
        for fault in faults { say("FAULT: \(fault)") }
        say(faults.isEmpty ? "\nThe loop was responsive." : "\nThe loop was NOT responsive.")
        exit(faults.isEmpty ? 0 : 1)
    }

    /// On a busy machine the holder of a lock waits for a core, and a time that is measured includes such waits, so the
    /// limits for blocked rounds and for times grow with the load.
    static var busyness: Double { max(1, ProcessFigures.loadPerCore) }

    /// Prints immediately. `print` would buffer the text if the output is not a terminal.
    private static func say(_ text: String) { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) }

    private static func run(
        _ scenario: Scenario, isShort: Bool, _ faults: inout [String]
    ) async -> (pulse: Pulse.Longest, notes: [String]) {
        var found: [String] = []
        for number in 1...attempts {
            let clock = SuspendingClock()
            let start = clock.now
            let attempt = Attempt(scenario.configuration, isShort: isShort)
            var longest = Pulse.Longest()
            do {
                let pulse = try Pulse(of: attempt.dispatcher)
                if let prepare = scenario.prepare {
                    try await prepare(attempt)
                    let first = pulse.restart().computing
                    attempt.note("a first round of \(first.text)")
                    attempt.expect(first <= limitOfFirst, "the first round computed for \(first.text)")
                }
                try await scenario.body(attempt)
                pulse.stop()
                longest = pulse.longest
            } catch { attempt.expect(false, "\(error)") }
            await attempt.dispatcher.shutDown(within: .zero)
            attempt.expect(longest.computing <= limit, "a round computed for \(longest.computing.text)")
            attempt.expect(longest.blocked <= limit * busyness, "a round was blocked for \(longest.blocked.text)")
            found = attempt.faults
            let took = (clock.now - start).text
            say("\(scenario.name): \(longest.round.text), \(longest.computing.text) computing; the whole in \(took)")
            if found.isEmpty { return (longest, attempt.notes) }
            let words = found.prefix(3).joined(separator: "; ")
            say("    attempt \(number): \(words) [\(attempt.notes.joined(separator: "; "))]")
            guard number == attempts else { continue }
            faults += found.map { "\(scenario.name): \($0)" }
            return (longest, attempt.notes)
        }
        return (Pulse.Longest(), [])
    }
}
