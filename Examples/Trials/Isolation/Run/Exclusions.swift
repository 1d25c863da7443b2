/// Differences that are known and documented: each with its reason.
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
            name: "NTLM after NTLM of the same user",
            reason: "it authenticates the connection, whose rounds are not repeated; executions and secrets are judged"),
        Exclusion(
            name: "HTTP/2 by prior knowledge after the same cancelled at once",
            reason: "its fields are packed, so that the peer tells requests apart by the time; secrets are judged"),
        Exclusion(
            name: "the first, empty POST of Digest, NTLM, Negotiate and 'any'",
            reason: "libcurl asks for the challenge without the body; the sendings with a body are counted"),
        Exclusion(
            name: "whose answer it is, at once, on a connection after 'surplus-answer-late'",
            reason:
                "an answer that comes while the next request is under way is that request's for any client; one after "
                + "another, where it comes before, all is judged"),
        Exclusion(
            name: "results of 'doh-silent', 'stream-failing' and 'stream-short'",
            reason: "how far they come before they fail is a matter of time; they come first, not last"),
    ]

    /// Whether the last step's result may depend on what was before.
    static func comparesNothing(_ steps: [Step]) -> Bool {
        guard let last = steps.last else { return true }
        let isKnownUser =
            last.kind.name.hasPrefix("ntlm") && steps.dropLast().contains { $0.kind.name == last.kind.name }
        // A request that was cancelled at once may arrive while the next one is under way.
        let isUnknown =
            last.kind.name == "get-version-2-prior"
            && steps.dropLast().contains { $0.kind.name == last.kind.name && $0.outcome.name == "cancelled-at-once" }
        return last.outcome.name == "close-if-kept" || isKnownUser || isUnknown
    }
}
