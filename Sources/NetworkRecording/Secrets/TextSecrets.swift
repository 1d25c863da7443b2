import NetworkCore

/// Secrets in a value: of a header field, a parameter, a form field, a string of JSON.
enum TextSecrets {
    /// Returns the value without its secrets, or `nil` for none. In a nested one no further text is looked for.
    static func redacted(_ text: [UInt8], isNested: Bool = false) -> [UInt8]? {
        if isCredential(text) { return SecretMark.bytes }
        if !isNested, text.first == UInt8(ascii: "{") || text.first == UInt8(ascii: "[") {
            switch JSONSecrets.verdict(on: text, isNested: true) {
            case .replaced(let shown): return shown
            case .unchanged: return nil
            // Like JSON, and none in which names could be found.
            case .leftOut: if text.contains(UInt8(ascii: "\"")) { return SecretMark.bytes }
            }
        }
        return ParameterSecrets.redacted(text, isNested: isNested)
    }

    static func redacted(_ text: String) -> String? {
        redacted(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Whether a value looks like that of `Authorization`, or is a JSON Web Token (RFC 7519) as a whole.
    private static func isCredential(_ text: [UInt8]) -> Bool {
        if Redaction.namesCredentials(text) { return true }
        guard text.starts(with: "eyJ".utf8) else { return false }
        return text.count(where: { $0 == UInt8(ascii: ".") }) >= 2
            && text.allSatisfy { $0.isLetterOrDigit || "-_.".utf8.contains($0) }
    }
}

/// A scanner for users in URLs, and for parameters with a secret name, of URLs and of lists such as `a=b; token=c`.
struct ParameterSecrets {
    private let text: [UInt8]
    private let isNested: Bool
    private var output: [UInt8] = []
    private var at = 0
    private var isChanged = false
    /// Whether the place is in a path, or behind a `?` or a `#`, of its word.
    private var (isInPath, isInQuery) = (false, false)

    /// Returns the text without its secrets, or `nil` for none. Parameters in a nested text are not looked into.
    static func redacted(_ text: [UInt8], isNested: Bool = false) -> [UInt8]? {
        guard text.contains(where: { "=@".utf8.contains($0) }) else { return nil }
        var scanner = ParameterSecrets(text, isNested)
        scanner.run()
        return scanner.isChanged ? scanner.output : nil
    }

    private init(_ text: [UInt8], _ isNested: Bool) { (self.text, self.isNested) = (text, isNested) }

    private static func isWordEnd(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: " "), 0x09, 0x0A, 0x0D: true
        default: false
        }
    }

    private mutating func run() {
        parameter()
        while at < text.count {
            let byte = text[at]
            output.append(byte)
            at += 1
            switch byte {
            case UInt8(ascii: "?"), UInt8(ascii: "#"):
                isInQuery = true
                parameter()
            case UInt8(ascii: "&"), UInt8(ascii: ";"): parameter()
            case UInt8(ascii: ",") where !isInQuery: parameter()
            case UInt8(ascii: "/"):
                if output.dropLast().last == UInt8(ascii: "/") { user() } else { isInPath = true }
            default:
                guard Self.isWordEnd(byte) else { continue }
                (isInPath, isInQuery) = (false, false)
                parameter()
            }
        }
    }

    /// Drops a user and a password at the start of an authority.
    private mutating func user() {
        let end = index(of: isInQuery ? "/?#&;" : "/?#")
        guard let mark = text[at..<end].lastIndex(of: UInt8(ascii: "@")) else { return }
        // What looks like a user may hold a parameter whose value has the `@` in it, and goes on after it.
        let holdsParameter = text[at..<mark].contains(UInt8(ascii: "="))
        replace(to: holdsParameter ? end : mark + 1, by: holdsParameter ? SecretMark.bytes : [])
    }

    /// Replaces the value of a parameter that begins here.
    private mutating func parameter() {
        let end = index(of: isInQuery ? "=&;?#" : "=&;?#/,")
        guard end < text.count, text[end] == UInt8(ascii: "=") else { return }
        let start = end + 1
        let last: Int
        if SecretName.isSecret(encoded: text[at..<end]) {
            last = endOfSecret(from: start)
        } else {
            // What is no secret is read again, for the parameters in it.
            guard !isNested else { return }
            last = index(of: isInQuery ? "&;?#" : "&;?#,", from: start)
            guard holdsSecret(text[start..<last]) else { return }
        }
        guard last > start, !text[start..<last].elementsEqual(SecretMark.bytes) else { return }
        // A name that holds a user of a URL goes with its value.
        if !text[at..<start].contains(UInt8(ascii: "@")) { output += text[at..<start] }
        replace(to: last, by: SecretMark.bytes)
    }

    private func endOfSecret(from start: Int) -> Int {
        var rest = start
        if rest < text.count, text[rest] == UInt8(ascii: "\"") {
            rest = text[(rest + 1)...].firstIndex(of: UInt8(ascii: "\"")).map { $0 + 1 } ?? text.count
        }
        // In a query, the other marks may be part of a value.
        return index(of: isInQuery ? "&#" : isInPath ? "&;?#/," : "&;", from: rest)
    }

    private func holdsSecret(_ value: ArraySlice<UInt8>) -> Bool {
        guard value.contains(where: { "%=".utf8.contains($0) }) else { return false }
        return TextSecrets.redacted(PercentEncoding.decodedWholly(value), isNested: true) != nil
    }

    /// Returns the offset of the next of some marks, or of the end of the word.
    private func index(of marks: String, from start: Int? = nil) -> Int {
        text[(start ?? at)...].firstIndex { Self.isWordEnd($0) || marks.utf8.contains($0) } ?? text.count
    }

    private mutating func replace(to end: Int, by mark: [UInt8]) {
        output += mark
        at = end
        isChanged = true
    }
}

/// Whether the name of a parameter, a form field or a JSON member says that its value is secret.
enum SecretName {
    /// Returns whether a name, in any case, is secret by the rule of ``SecretFields``.
    static func isSecret(_ name: some Collection<UInt8>) -> Bool {
        SecretFields.namesSecret(name.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 })
    }

    /// Returns whether a percent-encoded name is secret.
    static func isSecret(encoded name: some Collection<UInt8>) -> Bool { isSecret(PercentEncoding.decodedWholly(name)) }
}

/// What stands for a secret: a token (RFC 9110 §5.6.2), which a client of a replay can send as its password.
enum SecretMark {
    static let text = "REDACTED"
    static let bytes = Array(text.utf8)
    /// The mark as a JSON text.
    static let json = Array("\"\(text)\"".utf8)
}
