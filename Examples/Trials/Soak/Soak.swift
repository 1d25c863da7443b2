import Foundation
import TrialSupport

/// Random faults for a while, then the accounts; or many dispatchers, and what they leave behind:
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

    /// A fifth of the time warms up, and of a short run the half, and some rounds at least: what grows after the
    /// buffers and the allocator have reached what the load wants of them is a leak.
    private static func soak(_ client: Faults.Client, seconds: Double, seed: UInt64) async throws -> [String] {
        // Not by way of `print`, which keeps it back: it is to be seen even if the process ends of itself.
        FileHandle.standardOutput.write(Data("\(client.rawValue), \(seconds) s, seed \(seed)\n".utf8))
        let run = SoakRun(client: client, seed: seed)
        let start = ProcessFigures.now
        let warmUp = max(seconds / 5, min(10, seconds / 2))
        let rounds = try await run.era(seconds: warmUp, firstRound: 0, atLeast: client == .curl ? 16 : 4)
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
