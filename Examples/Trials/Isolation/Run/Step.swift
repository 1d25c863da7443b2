/// One request and how it goes.
struct Step: Sendable, CustomStringConvertible {
    let kind: Kind
    let outcome: Outcome

    init(_ kind: Kind, _ outcome: Outcome) { (self.kind, self.outcome) = (kind, outcome) }

    /// `KIND@OUTCOME`, as a step is named on the command line.
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
