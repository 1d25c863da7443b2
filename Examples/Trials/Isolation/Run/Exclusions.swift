/// Known and documented differences, each with its reason.
enum Exclusions {
    struct Exclusion: Sendable {
        let name: String
        let reason: String
    }

    static let all: [Exclusion] = [
        Exclusion(
            name: "close-if-kept at the end",
            reason: "whether a connection was kept decides its result; executions and secrets are judged"),
        Exclusion(
            name: "HTTP/2 with prior knowledge after the same request, cancelled immediately",
            reason: "its fields are compressed, so the peer identifies requests by time; secrets are judged"),
        Exclusion(
            name: "the owner of a response, all at once, on a connection after 'surplus-answer-late'",
            reason:
                "a response that arrives while the next request is in flight is that request's for any client; in "
                + "sequence, where it arrives before, everything is judged"),
        Exclusion(
            name: "results of 'doh-silent', 'stream-failing' and 'stream-short'",
            reason: "how far they get before they fail depends on timing; they come first, not last"),
    ]

    /// Returns whether the result of the last step may depend on the steps before it.
    static func comparesNothing(_ steps: [Step]) -> Bool {
        guard let last = steps.last else { return true }
        // A request that was cancelled immediately may arrive while the next one is in flight.
        let isUnknown =
            last.kind.name == "get-version-2-prior"
            && steps.dropLast().contains { $0.kind.name == last.kind.name && $0.outcome.name == "cancelled-at-once" }
        return last.outcome.name == "close-if-kept" || isUnknown
    }
}
