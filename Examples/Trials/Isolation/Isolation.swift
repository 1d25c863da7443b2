import Foundation

/// Shows that nothing of one request reaches another: A then B over one dispatcher is B alone over a new one.
///
///     Isolation run [OPTION VALUE] …      pairs, then longer sequences
///     Isolation try STEP STEP …           one sequence, with all that was seen
///     Isolation list                      kinds, outcomes, and what is not compared
@main
struct Isolation {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            switch arguments.first {
            case "work" where arguments.count == 3:
                try await Worker(folder: arguments[1], front: arguments[2]).work()
            case "run": exit(try Driver(Settings(Array(arguments.dropFirst()))).run())
            case "try": try trySequence(Array(arguments.dropFirst()))
            case "list": list()
            default: throw PeerFailure(Settings.usage)
            }
        } catch {
            print("\(error)")
            exit(2)
        }
    }

    /// What was found, and the sequence as a test.
    private static func tell(_ steps: [Step], _ text: String) throws {
        print(text + "\n")
        print(try Shrinker(Settings([]), title: "").test(of: Finding(steps: steps, text: text)))
        exit(1)
    }

    private static func trySequence(_ names: [String]) throws {
        let steps = try names.map { try Step($0) }
        let child = try Child(try Settings([]))
        defer { child.end() }
        switch child.run(steps) {
        case .done(let found) where found.isEmpty: print("nothing was found")
        case .done(let found): try tell(steps, found.joined(separator: "\n\n"))
        case .ended(let how): try tell(steps, "the process ended by \(how)")
        case .hung: try tell(steps, "the process hung")
        }
    }

    private static func list() {
        print("kinds: " + Kind.all.map(\.name).joined(separator: " "))
        print("\noutcomes: " + Outcome.all.map(\.name).joined(separator: " "))
        print("\nnot compared:")
        for rule in Wire.normalisations { print("- \(rule.name): \(rule.reason)") }
        print("\nexcluded:")
        for exclusion in Exclusions.all { print("- \(exclusion.name): \(exclusion.reason)") }
    }
}
