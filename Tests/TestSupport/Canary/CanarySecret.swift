package import Foundation

/// A text that must never be printed: unique fragments, combined in the form of a kind of secret.
package struct CanarySecret: Sendable, CustomStringConvertible {
    /// The kind of secret that it imitates.
    package let kind: String
    /// The secret itself.
    package let value: String
    private let fragments: [String]

    /// - Parameter pattern: The value, with `1`, `2`, or `3` in angle quotes in place of a fragment.
    private init(_ kind: String, _ number: Int, _ pattern: String) {
        self.kind = kind
        let all = (1...3).map { "Qz\(number < 10 ? "0" : "")\(number)vK\($0)w" }
        fragments = all.enumerated().filter { pattern.contains("«\($0.offset + 1)»") }.map(\.element)
        value = all.enumerated().reduce(pattern) { text, fragment in
            text.replacingOccurrences(of: "«\(fragment.offset + 1)»", with: fragment.element)
        }
    }

    package var description: String { kind }

    /// The bytes of the value.
    package var data: Data { Data(value.utf8) }
    /// The value with percent escapes, for use in a URL.
    package var percentEncoded: String {
        value.utf8.map { byte in
            let character = Character(Unicode.Scalar(byte))
            return character.isASCII && (character.isLetter || character.isNumber)
                ? String(character) : Self.escape(byte)
        }.joined()
    }

    private static func escape(_ byte: UInt8) -> String {
        "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }

    /// More than thirty kinds: the results of guides, providers, and password generators, and characters that break
    /// printers.
    package static let all: [CanarySecret] = [
        ("a plain password", "«1»«2»"), ("a password with @", "«1»@«2»"), ("a password with /", "«1»/«2»"),
        ("a password with ?", "«1»?«2»"), ("a password with #", "«1»#«2»"), ("a password with :", "«1»:«2»:«3»"),
        ("a password with & and =", "«1»=«2»&«3»"), ("a password with spaces", "«1» «2» «3»"),
        ("a password with '", "«1»'«2»"), ("a password with \"", "«1»\"«2»"), ("a password with \\", #"«1»\«2»"#),
        ("a password with %", "«1»%«2»"), ("a password with brackets", "[«1»](«2»)<«3»>"),
        ("a password in German", "«1»äß«2»"), ("a password with a combining mark", "«1»:\u{301}«2»"),
        ("a password with a line separator", "«1»\u{2028}«2»"), ("a password with NEL", "«1»\u{85}«2»"),
        ("a password with ESC", "«1»\u{1B}[2J«2»"), ("a password with CR and LF", "«1»\r\n«2»: «3»"),
        ("a password with tabs and form feeds", "«1»\t«2»\u{C}«3»"),
        ("a password with a URL in it", "«1»http://«2»/«3»"),
        ("a password with dots and commas", "«1».«2»,«3»;"), ("Base64", "«1»«2»A=="), ("Base64url", "«1»-«2»_"),
        ("a JSON Web Token", "eyJhbGciOiJIUzI1NiJ9.«1».«2»"), ("a UUID", "«1»-«2»-«3»"),
        ("an AWS key", "AKIA«1»"), ("an AWS secret", "«1»/«2»+«3»"), ("a Stripe key", "sk_live_«1»"),
        ("a GitHub token", "ghp_«1»«2»"), ("a Google key", "AIza«1»-«2»"),
        ("a PEM key", "-----BEGIN PRIVATE KEY-----\n«1»\n«2»\n-----END PRIVATE KEY-----\n"),
        ("a value of Authorization", "Bearer «1»"), ("a cookie", "sid=«1»; Path=/; «2»"),
        ("JSON", #"{"password": "«1»", "next": ["«2»"]}"#),
        ("a long key", String(repeating: "«1»-", count: 400) + "«2»"), ("an empty user before @", "@«1»"),
    ].enumerated().map { CanarySecret($0.element.0, $0.offset + 1, $0.element.1) }

    // MARK: Searching

    /// Returns the forms in which a text contains the secret: plain, in other case, in Base64, in hexadecimal, or as a
    /// list of bytes.
    package func forms(in text: String) -> [String] {
        let printed = CanaryText(text)
        return fragments.flatMap { printed.forms(of: $0) }
    }
}

/// A printed text, prepared for many searches.
private struct CanaryText {
    private let plain: String
    private let lower: String

    init(_ text: String) {
        plain = text
        lower = text.lowercased()
    }

    func forms(of fragment: String) -> [String] {
        let bytes = Array(fragment.utf8)
        var found: [String] = []
        if strstr(lower, fragment.lowercased()) != nil { found.append(fragment) }
        if Self.base64(bytes).contains(where: { strstr(plain, $0) != nil }) { found.append("Base64 of \(fragment)") }
        if strstr(lower, bytes.map { String($0, radix: 16) }.joined()) != nil {
            found.append("hexadecimal \(fragment)")
        }
        if hasNumbers(bytes) { found.append("the bytes of \(fragment)") }
        return found
    }

    /// Returns whether the numbers in the text, in sequence, are the bytes.
    private func hasNumbers(_ bytes: [UInt8]) -> Bool {
        guard bytes.allSatisfy({ strstr(plain, "\($0)") != nil }) else { return false }
        let numbers = plain.utf8.split { !(0x30...0x39).contains($0) }.compactMap {
            UInt8(String(decoding: $0, as: UTF8.self))
        }
        return numbers.firstRange(of: bytes) != nil
    }

    /// Returns the part of a fragment's Base64 form that is independent of its surroundings, for each of three offsets.
    private static func base64(_ bytes: [UInt8]) -> [String] {
        (0...2).map { offset in
            let text = Data([UInt8](repeating: 0, count: offset) + bytes).base64EncodedString()
            let sure = (offset + bytes.count) / 3 * 4
            return String(text.prefix(sure).dropFirst(offset == 0 ? 0 : 4))
        }
    }
}
