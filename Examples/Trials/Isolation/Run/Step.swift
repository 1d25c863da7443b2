/// One request and the outcome that it should have.
struct Step: Sendable, CustomStringConvertible {
    let kind: Kind
    let outcome: Outcome

    init(_ kind: Kind, _ outcome: Outcome) { (self.kind, self.outcome) = (kind, outcome) }

    /// Reads a step in the form of the command line, `KIND@OUTCOME`.
    init(_ text: String) throws {
        let sides = text.split(separator: "@").map(String.init)
        guard sides.count == 2, let kind = Kind.named[sides[0]], let outcome = Outcome.named[sides[1]] else {
            throw PeerFailure("no step is called \(text); `Isolation list` names the kinds and outcomes")
        }
        self.init(kind, outcome)
    }

    var description: String { "\(kind.name)@\(outcome.name)" }
}

extension [Step] {
    var text: String { map(\.description).joined(separator: " ") }
}
