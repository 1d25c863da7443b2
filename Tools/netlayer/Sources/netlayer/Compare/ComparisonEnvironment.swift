import Foundation
import NetworkLayer

/// What a comparison depends on besides its arms.
enum ComparisonEnvironment {
    static var facts: [(name: String, value: String)] {
        let process = ProcessInfo.processInfo
        return [
            ("netlayer", NetworkLayerVersion.current), ("system", process.operatingSystemVersionString),
            ("processor", processor), ("cores", "\(process.activeProcessorCount)"),
            ("memory", "\(process.physicalMemory >> 20) MB"), ("date", Date.now.formatted(.iso8601)),
        ]
    }

    private static var processor: String {
        // The file has no length, by which other ways to read it would go.
        let bytes = try? FileHandle(forReadingAtPath: "/proc/cpuinfo")?.readToEnd()
        let line = String(decoding: bytes ?? Data(), as: UTF8.self).split(separator: "\n")
            .first { $0.hasPrefix("model name") }
        return line?.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown"
    }
}

/// The command line of a comparison as a report may show it.
enum ComparisonCommandLine {
    /// Returns the words for a shell, without the values of options that may hold secrets, and with URLs as a log shows
    /// them.
    static func shown(_ words: [String]) -> String {
        var shown = ["netlayer"]
        var hidesNext = false
        for word in words {
            if hidesNext {
                shown.append("'…'")
                hidesNext = false
            } else if word.hasBytePrefix("--"), let equals = word.utf8.firstIndex(of: UInt8(ascii: "=")) {
                let name = String(word[..<equals])
                shown.append(ValueFlag.secretNames.contains(name) ? "\(name)=…" : ShellText.word(word))
            } else if word.contains("://") {
                shown.append(ShellText.word((try? RequestURL(word))?.description ?? "…"))
            } else if ValueFlag.secretNames.contains(word) {
                shown.append(ShellText.word(word))
                hidesNext = true
            } else if let group = secretGroup(word) {
                shown.append(ShellText.word(group))
                hidesNext = true
            } else {
                shown.append(ShellText.word(word))
            }
        }
        return shown.joined(separator: " ")
    }

    /// Returns a group of short options, `-4H`, up to the one whose value may be a secret, in the same word or in the
    /// next one; `nil` for any other word.
    private static func secretGroup(_ word: String) -> String? {
        guard word.hasBytePrefix("-"), !word.hasBytePrefix("--") else { return nil }
        let letters = word.utf8.dropFirst()
        guard let index = letters.firstIndex(where: { ValueFlag.secretNames.contains("-\(Unicode.Scalar($0))") }) else {
            return nil
        }
        let rest = letters.index(after: index)
        return String(decoding: word.utf8[..<rest], as: UTF8.self) + (rest == word.utf8.endIndex ? "" : "…")
    }

    /// Returns a program as a report may show it: its first word, since the others may hold secrets. One that sets
    /// variables is not shown at all.
    static func shown(program: String) -> String {
        let words = program.split(maxSplits: 1) { $0.isWhitespace }
        guard let first = words.first, !first.contains("=") else { return "…" }
        return TerminalText.line(String(first)) + (words.count > 1 ? " …" : "")
    }
}
