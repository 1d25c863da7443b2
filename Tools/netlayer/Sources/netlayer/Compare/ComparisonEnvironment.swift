import Foundation
import NetworkLayer

/// What a comparison depends on besides its arms, and how it runs, as reports and the terminal show it.
enum ComparisonEnvironment {
    static var facts: [String: String] {
        let process = ProcessInfo.processInfo
        return [
            "netlayer": NetworkLayerVersion.current, "system": process.operatingSystemVersionString,
            "processor": processor, "cores": "\(process.activeProcessorCount)",
            "memory": "\(process.physicalMemory >> 20) MB", "date": Date.now.formatted(.iso8601),
        ]
    }

    private static var processor: String {
        // The file has no length, by which other ways to read it would go.
        let bytes = try? FileHandle(forReadingAtPath: "/proc/cpuinfo")?.readToEnd()
        let line = String(decoding: bytes ?? Data(), as: UTF8.self).split(separator: "\n")
            .first { $0.hasPrefix("model name") }
        return line?.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown"
    }

    /// Returns the words of a command for a shell, without the values of options that may hold secrets, and with URLs
    /// as a log shows them.
    static func shown(_ words: [String]) -> String {
        var shown = ["netlayer"]
        var hidesNext = false
        for word in words {
            if hidesNext {
                shown.append("'…'")
                hidesNext = false
            } else if word.hasBytePrefix("--"), let (name, _) = word.halves(at: UInt8(ascii: "=")) {
                shown.append(ValueFlag.secretNames.contains(name) ? "\(name)=…" : ShellText.word(word))
            } else if word.contains("://") {
                shown.append(ShellText.word((try? RequestURL(word))?.description ?? "…"))
            } else {
                let group = ValueFlag.secretNames.contains(word) ? word : secretGroup(word)
                shown.append(ShellText.word(group ?? word))
                hidesNext = group != nil
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

extension ProgressLine {
    /// Returns a line for the progress of a comparison: on a terminal each second, elsewhere every ten seconds.
    static func ofComparison() -> ProgressLine {
        let isPlain = ProcessInfo.processInfo.environment["TERM"] == "dumb" || !Descriptor.standardError.isTerminal
        return ProgressLine(
            after: .seconds(isPlain ? 10 : 0), each: .seconds(isPlain ? 10 : 1), on: isPlain ? nil : .standardError)
    }

    /// Returns how far a comparison is, and the latest figures of each arm.
    static func text(_ arms: [Arm], rounds: Int, of design: ExperimentDesign, after elapsed: Duration) -> String {
        let share = min(1, max(Double(rounds) / Double(design.rounds), design.time.map { elapsed / $0 } ?? 0))
        let left = share > 0.05 ? ", some \((elapsed / share * (1 - share)).shortText) left" : ""
        let figures = arms.filter { !$0.isCopy }.map { arm in
            let values = BlockFigures(arm.figures.flatMap { $0.blocks.suffix(5) }).values
            let median = values[.p50].map(FigureCells.time) ?? "-"
            let rate = values[.rate].map { "\(Int($0.rounded()))/s" } ?? "-"
            return "\(arm.name) \(arm.figures.lazy.compactMap(\.ended).first ?? "\(median), \(rate)")"
        }
        return "round \(rounds + 1) of \(design.rounds)\(left): \(figures.joined(separator: "; "))"
    }
}
