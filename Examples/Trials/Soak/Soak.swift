import Foundation
import TrialSupport

/// Random faults for a given time, then the accounts; or many dispatchers, and what they leave behind:
///
///     Soak curl|urlsession SECONDS [SEED]
///     Soak dispatchers COUNT
@main
struct Soak {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            if arguments.count == 2, arguments[0] == "dispatchers", let count = Int(arguments[1]), count > 0 {
                report(try await DispatcherLives(count: count).run())
            } else if (2...3).contains(arguments.count), let client = Faults.Client(rawValue: arguments[0]),
                let seconds = Double(arguments[1]), seconds > 0
            {
                let seed = arguments.count > 2 ? UInt64(arguments[2]) : UInt64.random(in: 0...UInt64(UInt32.max))
                report(try await soak(client, seconds: seconds, seed: seed ?? 0))
            } else {
                print("usage: Soak curl|urlsession SECONDS [SEED] | Soak dispatchers COUNT")
                exit(2)
            }
        } catch {
            print("\(error)")
            exit(1)
        }
    }

    /// Spends a fifth of the time on the warm-up, or half of a short run, with a minimum number of rounds. The buffers
    /// and the allocator reach the size that the load needs; growth after that is a leak.
    private static func soak(_ client: Faults.Client, seconds: Double, seed: UInt64) async throws -> [String] {
        // Not `print`, which buffers: the line must be visible even if the process crashes.
        FileHandle.standardOutput.write(Data("\(client.rawValue), \(seconds) s, seed \(seed)\n".utf8))
        let run = SoakRun(client: client, seed: seed)
        let start = ProcessFigures.now
        let warmUp = max(seconds / 5, min(10, seconds / 2))
        let rounds = try await run.era(seconds: warmUp, firstRound: 0, atLeast: client == .curl ? 24 : 4)
        let warm = await Settled.figures { _ in true }
        let all = try await run.era(seconds: seconds - warmUp, firstRound: rounds)
        let bounds = Bounds(client: client)
        let end = await Settled.figures { bounds.faults(warm, $0).isEmpty }
        print("\n\(all) rounds\n\n\(run.ledger.text)\n")
        print(bounds.table(start, warm, end))
        return run.ledger.faults + bounds.faults(warm, end)
    }

    private static func report(_ faults: [String]) {
        for fault in faults { print("FAULT: \(fault)") }
        print(faults.isEmpty ? "\nThe accounts are in order." : "\nThe accounts are NOT in order.")
        exit(faults.isEmpty ? 0 : 1)
    }
}
