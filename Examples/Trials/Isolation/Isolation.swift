import Foundation

/// Shows that nothing of one request reaches another: A then B over one dispatcher gives the same as B over a new one.
///
///     Isolation run [OPTION VALUE] …      pairs, then longer sequences
///     Isolation try [all:] STEP STEP …    one sequence, or all of it at once, with what was found
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

    private static func trySequence(_ names: [String]) throws {
        let isAtOnce = names.first == "all:"
        let steps = try names.dropFirst(isAtOnce ? 1 : 0).map { try Step($0) }
        let settings = try Settings([])
        let child = try Child(settings)
        defer { child.end() }
        let text: String
        switch child.run(steps, first: isAtOnce ? -1 : 0) {
        case .done(let found) where found.isEmpty: return print("nothing was found")
        case .done(let found): text = found.joined(separator: "\n\n")
        case .ended(let how): text = "the process ended by \(how)"
        case .hung: text = "the process hung"
        }
        print(text + "\n")
        if !isAtOnce { print(try Shrinker(settings, title: "").test(of: Finding(steps: steps, text: text))) }
        exit(1)
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
