/// The name of a variable or file with a secret, as an error may show it. The secret itself may be in its place.
enum ShownName {
    /// Returns the name of an environment variable in quotes, or only the length of text that does not look like one.
    static func variable(_ name: String) -> String {
        name.utf8.first.map(isDigit) == false && isPlain(name, "_") ? "'\(name)'" : length(of: name)
    }

    /// Returns a path in quotes if each of its parts looks like a name, or else only its length.
    static func path(_ path: String) -> String {
        path.utf8.isEmpty || !isPlain(path, "_-./") ? length(of: path) : "'\(path)'"
    }

    /// Whether a name consists of short words. Generated tokens have long words with digits.
    private static func isPlain(_ name: String, _ separators: String) -> Bool {
        let words = name.utf8.split { separators.utf8.contains($0) }
        return name.utf8.count(where: isDigit) <= maximumDigits
            && words.allSatisfy { $0.count <= maximumWord && $0.allSatisfy { isDigit($0) || isLetter($0) } }
    }

    private static let maximumWord = 16
    private static let maximumDigits = 2

    private static func length(of text: String) -> String { "(\(text.utf8.count) bytes)" }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
}
