/// The words of a shell command, as `sh` and the `$'…'` of bash write them: what browsers copy. Nothing is expanded.
/// By scalars: a quote before a combining mark is one `Character`, which is no quote.
enum ShellWords {
    static func split(_ command: String) throws -> [String] {
        var rest = Substring(command).unicodeScalars
        var words: [String] = []
        var word: String?
        while let first = rest.popFirst() {
            switch first {
            case " ", "\t", "\n", "\r":
                word.map { words.append($0) }
                word = nil
            case "\\":
                guard let next = rest.popFirst() else { throw failure("it ends after a backslash") }
                // A line that goes on.
                if next == "\r", rest.first == "\n" { rest.removeFirst() }
                if next != "\n", next != "\r" { word = (word ?? "") + String(next) }
            case "'": word = (word ?? "") + (try literal(&rest))
            case "\"": word = (word ?? "") + (try quoted(&rest))
            case "$" where rest.first == "'":
                rest.removeFirst()
                word = (word ?? "") + (try escaped(&rest))
            case "$", "`", "|", "&", ";", "<", ">", "(", ")": throw failure("a shell would act on '\(first)'")
            default: word = (word ?? "") + String(first)
            }
        }
        word.map { words.append($0) }
        return words
    }

    private static func failure(_ reason: String) -> ToolFailure {
        ToolFailure(.usage, "a command of --from-curl can't be read: \(reason)")
    }

    private static func literal(_ rest: inout Substring.UnicodeScalarView) throws -> String {
        guard let end = rest.firstIndex(of: "'") else { throw failure("a quote has no end") }
        defer { rest = rest[rest.index(after: end)...] }
        return String(String.UnicodeScalarView(rest[..<end]))
    }

    private static func quoted(_ rest: inout Substring.UnicodeScalarView) throws -> String {
        var text = String.UnicodeScalarView()
        while let next = rest.popFirst() {
            switch next {
            case "\"": return String(text)
            case "\\":
                guard let escaped = rest.popFirst() else { throw failure("a quote has no end") }
                if !"\"\\$`\n".unicodeScalars.contains(escaped) { text.append("\\") }
                if escaped != "\n" { text.append(escaped) }
            case "$", "`": throw failure("a shell would act on '\(next)'")
            default: text.append(next)
            }
        }
        throw failure("a quote has no end")
    }

    /// Reads up to the end of `$'…'`.
    private static func escaped(_ rest: inout Substring.UnicodeScalarView) throws -> String {
        var bytes: [UInt8] = []
        while let next = rest.popFirst() {
            if next == "'" {
                guard let text = String(validating: bytes, as: UTF8.self) else {
                    throw failure("an escape makes a text that is not UTF-8")
                }
                return text
            }
            guard next == "\\" else {
                bytes += String(next).utf8
                continue
            }
            switch rest.popFirst() {
            case "n": bytes.append(UInt8(ascii: "\n"))
            case "r": bytes.append(UInt8(ascii: "\r"))
            case "t": bytes.append(UInt8(ascii: "\t"))
            case "x": bytes.append(UInt8(truncatingIfNeeded: try number(&rest, digits: 2)))
            case "u":
                guard let scalar = Unicode.Scalar(try number(&rest, digits: 4)) else {
                    throw failure("an escape has no character")
                }
                bytes += String(scalar).utf8
            case let other? where "\\'\"?!".unicodeScalars.contains(other): bytes += String(other).utf8
            default: throw failure("an escape is none of \\n, \\r, \\t, \\x, \\u, \\\\ and \\'")
            }
        }
        throw failure("a quote has no end")
    }

    private static func number(_ rest: inout Substring.UnicodeScalarView, digits: Int) throws -> UInt32 {
        let text = rest.prefix(digits).prefix { $0.properties.isASCIIHexDigit }
        guard let value = UInt32(String(String.UnicodeScalarView(text)), radix: 16) else {
            throw failure("an escape has no character")
        }
        rest = rest.dropFirst(text.count)
        return value
    }
}
