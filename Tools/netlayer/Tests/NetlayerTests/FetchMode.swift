import Testing

/// A way in which `fetch` delivers a body. The tests of an option cover each of them.
enum FetchMode: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case plain, head, json, file, lines, events, resumable, checked

    var testDescription: String { rawValue }

    /// Returns the options that select the mode; the file is named `out`.
    func arguments(in folder: TestFolder) -> [String] {
        let file = ["-o", folder.path("out")]
        return switch self {
        case .plain: []
        case .head: ["-i"]
        case .json: ["--as-json"]
        case .file: file
        case .lines: ["--lines"]
        case .events: ["--events"]
        case .resumable: file + ["-C"]
        case .checked: file + ["--checksum", "sha256:" + String(repeating: "0", count: 64)]
        }
    }

    var writesFile: Bool { [.file, .resumable, .checked].contains(self) }
}
