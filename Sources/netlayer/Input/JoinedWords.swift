/// The words of a command line of `fetch` or `compare`, with values that follow a short option at once (`-XPUT`) in
/// words of their own, as curl reads them.
///
/// The argument parser has such values too, but cuts them at a `=`, and its message then shows what is before.
enum JoinedWords {
    /// The short options that take a value.
    private static let letters = Set("FXHdmxUEour".utf8)
    /// The options whose value may begin with a dash.
    private static let takers: Set<String> = [
        "-d", "--data", "--data-binary", "--data-raw", "-H", "--header", "-F", "--form", "-r", "--range", "--cookie",
        "--option", "--proxy-header", "--pass",
    ]

    static func separated(_ words: [String]) -> [String] {
        guard ["fetch", "compare", "record", "replay"].contains(words.first) else { return words }
        var separated: [String] = []
        var isValue = false
        for (index, word) in words.enumerated() {
            if word == "--", !isValue { return separated + words[index...] }
            let bytes = Array(word.utf8)
            if !isValue, bytes.count > 2, bytes[0] == UInt8(ascii: "-"), letters.contains(bytes[1]) {
                separated += [
                    String(decoding: bytes[..<2], as: UTF8.self), String(decoding: bytes[2...], as: UTF8.self),
                ]
            } else {
                separated.append(word)
            }
            isValue = !isValue && takers.contains(word)
        }
        return separated
    }
}
