/// A challenge of a server (RFC 9110 §11.3): a scheme and its parameters.
package struct AuthenticationChallenge: Equatable {
    package let scheme: String
    /// The parameters by their names in lower case; the first of a name counts.
    private(set) var parameters: [String: String] = [:]

    package subscript(name: String) -> String? { parameters[name] }

    /// The challenges of one field, in order. What is malformed ends it.
    package static func all(in field: String) -> [AuthenticationChallenge] {
        var parser = ChallengeParser(field)
        return parser.challenges()
    }

    fileprivate init(scheme: String) { self.scheme = scheme.lowercasedASCII }

    fileprivate mutating func add(_ name: String, _ value: String) {
        let name = name.lowercasedASCII
        if parameters[name] == nil { parameters[name] = value }
    }
}

/// Reads a `WWW-Authenticate` field, whose commas separate both challenges and parameters.
private struct ChallengeParser {
    private var rest: Substring.UTF8View

    init(_ field: String) { rest = field[...].utf8 }

    mutating func challenges() -> [AuthenticationChallenge] {
        var found: [AuthenticationChallenge] = []
        while true {
            skip { $0 == UInt8(ascii: ",") || $0.isBlank }
            let word = token()
            guard !word.isEmpty else { return found }
            let hadBlank = skip(\.isBlank)
            if rest.first == UInt8(ascii: "="), let last = found.indices.last {
                // A parameter of the challenge before.
                guard let value = value() else { return found }
                found[last].add(word, value)
            } else {
                found.append(AuthenticationChallenge(scheme: word))
                if hadBlank, !beginsParameter { skip { $0 != UInt8(ascii: ",") } }
            }
        }
    }

    /// Whether a parameter follows, and no credentials in one piece (token68).
    private var beginsParameter: Bool {
        var ahead = self
        guard !ahead.token().isEmpty else { return false }
        ahead.skip(\.isBlank)
        guard ahead.rest.first == UInt8(ascii: "=") else { return false }
        ahead.rest = ahead.rest.dropFirst()
        ahead.skip(\.isBlank)
        guard let next = ahead.rest.first else { return false }
        return next != UInt8(ascii: "=") && next != UInt8(ascii: ",")
    }

    private mutating func value() -> String? {
        rest = rest.dropFirst()
        skip(\.isBlank)
        guard rest.first == UInt8(ascii: "\"") else { return token() }
        return rest.popQuoted()
    }

    private mutating func token() -> String {
        let word = rest.prefix { !$0.isBlank && !#",="\"#.utf8.contains($0) }
        rest = rest[word.endIndex...]
        return String(Substring(word))
    }

    @discardableResult
    private mutating func skip(_ fits: (UInt8) -> Bool) -> Bool {
        let skipped = rest.prefix(while: fits)
        rest = rest[skipped.endIndex...]
        return !skipped.isEmpty
    }
}
