import NetworkCore

/// The words of a command line of `fetch` or `compare`, with values that follow a short option at once (`-XPUT`) in
/// words of their own, as curl reads them.
///
/// The argument parser has such values too, but cuts them at a `=`, and its message then shows what is before.
enum JoinedWords {
    /// Returns a message of the argument parser, which repeats words, without what may be a secret in them: what
    /// follows the letter of a short option or the `=` of a long one, and long words.
    static func hidingValues(of words: [String], in message: String) -> String {
        let secrets = words.flatMap { word -> [(text: [UInt8], shown: [UInt8])] in
            let bytes = Array(word.utf8)
            let mark = Array("…".utf8)
            if word.hasBytePrefix("--"), !word.hasBytePrefix("---") {
                // The option's name may be shown; the value after '=' may not.
                let name = bytes.prefix { $0 != UInt8(ascii: "=") }
                let value = Array(bytes.dropFirst(name.count + 1))
                return value.count > maximumShown ? [(value, mark)] : []
            }
            // The parser cuts a word at a '='.
            let parts = [bytes, Array(bytes.prefix { $0 != UInt8(ascii: "=") })]
            if word.hasBytePrefix("-") {
                return parts.filter { $0.count > 2 }.map { ($0, $0[..<2] + mark) }
                    + parts.map { Array($0.dropFirst(2)) }.filter { $0.count > maximumShown }.map { ($0, mark) }
            }
            return parts.filter { $0.count > maximumShown }.map { ($0, mark) }
        }
        let shown = secrets.reduce(Array(message.utf8)) { $0.replacing($1.text, with: $1.shown) }
        return String(decoding: shown, as: UTF8.self)
    }

    /// The longest word that a message repeats, in bytes.
    private static let maximumShown = 16

    static func separated(_ words: [String]) -> [String] {
        guard ["fetch", "compare", "record", "replay"].contains(words.first) else { return words }
        var separated: [String] = []
        var isValue = false
        for (index, word) in words.enumerated() {
            if word == "--", !isValue { return separated + words[index...] }
            let bytes = Array(word.utf8)
            if !isValue, bytes.count > 2, bytes[0] == UInt8(ascii: "-"), ValueFlag.letters.contains(bytes[1]) {
                separated += [
                    String(decoding: bytes[..<2], as: UTF8.self), String(decoding: bytes[2...], as: UTF8.self),
                ]
            } else {
                separated.append(word)
            }
            isValue = !isValue && ValueFlag.dashNames.contains(word)
        }
        return separated
    }
}
