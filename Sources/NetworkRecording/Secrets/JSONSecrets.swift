import FoundationEssentials
import NetworkCore

/// A scanner that replaces the values of secret members in JSON texts, and leaves all other bytes as they are.
struct JSONSecrets {
    private let bytes: [UInt8]
    private let isNested: Bool
    private var at = 0
    private var output: [UInt8] = []
    /// The number of bytes that are in the output, as they are or replaced.
    private var copied = 0

    /// Bytes that are no JSON.
    private struct Fault: Error {}

    /// Returns the text, which may be in a string of JSON or a parameter (nested), without its secrets.
    static func verdict(on bytes: [UInt8], isNested: Bool = false) -> BodySecrets.Verdict {
        var scanner = JSONSecrets(bytes, isNested)
        do { try scanner.run() } catch { return .leftOut }
        guard scanner.copied > 0 else { return .unchanged }
        return .replaced(scanner.output + bytes[scanner.copied...])
    }

    private init(_ bytes: [UInt8], _ isNested: Bool) {
        (self.bytes, self.isNested) = (bytes, isNested)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { at = 3 }
    }

    private mutating func run() throws(Fault) {
        while at < bytes.count {
            if bytes[at] == UInt8(ascii: "\"") { try string() } else { try skipOther() }
        }
    }

    /// Reads a string: a name and its value if that is secret, or a value.
    private mutating func string() throws(Fault) {
        let start = at
        let text = try skipString()
        let end = at
        skipBlanks()
        guard at < bytes.count, bytes[at] == UInt8(ascii: ":") else {
            if let shown = TextSecrets.redacted(text, isNested: isNested) {
                replace(start..<end, by: try Self.encoded(shown))
            }
            return
        }
        at += 1
        guard SecretName.isSecret(text) else { return }
        skipBlanks()
        try secretValue()
    }

    /// Replaces a value by one of its type, which decodes as before. `true`, `false` and `null` tell nothing.
    private mutating func secretValue() throws(Fault) {
        let start = at
        guard start < bytes.count else { return }
        switch bytes[start] {
        case UInt8(ascii: "\""):
            _ = try skipString()
            replace(start..<at, by: SecretMark.json)
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            let isObject = bytes[start] == UInt8(ascii: "{")
            var depth = 0
            repeat {
                if bytes[at] == UInt8(ascii: "\"") {
                    _ = try skipString()
                } else {
                    if "{[".utf8.contains(bytes[at]) { depth += 1 } else if "}]".utf8.contains(bytes[at]) { depth -= 1 }
                    try skipOther()
                }
            } while depth > 0 && at < bytes.count
            replace(start..<at, by: Array((isObject ? "{}" : "[]").utf8))
        default:
            try skipOther()
            if "-0123456789".utf8.contains(bytes[start]) { replace(start..<at, by: [UInt8(ascii: "0")]) }
        }
    }

    private mutating func replace(_ range: Range<Int>, by mark: [UInt8]) {
        guard !bytes[range].elementsEqual(mark) else { return }
        output += bytes[copied..<range.lowerBound] + mark
        copied = range.upperBound
    }

    private mutating func skipBlanks() {
        at = bytes[at...].firstIndex { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } ?? bytes.count
    }

    /// Skips a mark, a number or a word.
    private mutating func skipOther() throws(Fault) {
        // The last one is the start of a text in a sequence (RFC 7464).
        if "{}[],: \t\r\n\u{1E}".utf8.contains(bytes[at]) { return at += 1 }
        let end = bytes[at...].firstIndex { !($0.isLetterOrDigit || "+-.".utf8.contains($0)) } ?? bytes.count
        let word = bytes[at..<end]
        let isNumber = word.first.map { "-0123456789".utf8.contains($0) } ?? false
        let isCut = end == bytes.count && !word.isEmpty
        let isWord = ["true", "false", "null"].contains { text in
            word.elementsEqual(text.utf8) || isCut && text.utf8.starts(with: word)
        }
        guard isWord || isNumber && word.allSatisfy({ "+-.0123456789eE".utf8.contains($0) }) else { throw Fault() }
        at = end
    }

    /// Skips a string, and returns its text.
    private mutating func skipString() throws(Fault) -> [UInt8] {
        let start = at
        at += 1
        while at < bytes.count, bytes[at] != UInt8(ascii: "\"") {
            guard bytes[at] >= 0x20 else { throw Fault() }
            at += bytes[at] == UInt8(ascii: "\\") ? 2 : 1
        }
        guard at < bytes.count else {
            at = bytes.count
            return Array(bytes[(start + 1)...])
        }
        at += 1
        let text = bytes[(start + 1)..<(at - 1)]
        guard text.contains(UInt8(ascii: "\\")) else { return Array(text) }
        guard let decoded = try? JSONDecoder().decode(String.self, from: Data(bytes[start..<at])) else { throw Fault() }
        return Array(decoded.utf8)
    }

    private static func encoded(_ text: [UInt8]) throws(Fault) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        guard let bytes = try? encoder.encode(String(decoding: text, as: UTF8.self)) else { throw Fault() }
        return [UInt8](bytes)
    }
}
