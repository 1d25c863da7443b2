/// Differences that are known and documented: each with its reason.
enum Exclusions {
    struct Exclusion: Sendable {
        let name: String
        let reason: String
    }

    static let all: [Exclusion] = [
        Exclusion(
            name: "close-if-kept at the end",
            reason: "whether a connection was kept decides its result; executions and secrets are judged")
    ]

    /// Whether the last step's result may depend on what was before.
    static func comparesNothing(_ steps: [Step]) -> Bool { steps.last?.outcome.name == "close-if-kept" }

    static func allowsSharing(_ earlier: Step, _ later: Step) -> Bool { false }
}
