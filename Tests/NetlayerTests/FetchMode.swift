import Foundation
import Testing

/// A way in which `fetch` delivers a body. What its options promise holds for each.
enum FetchMode: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case plain, head, json, file, lines, events, resumable, checked

    var testDescription: String { rawValue }

    /// The options that ask for it; a file is called `out`.
    func arguments(in folder: TestFolder) -> [String] {
        let file = ["-o", folder.path("out")]
        return switch self {
        case .plain: []
        case .head: ["-i"]
        case .json: ["--json"]
        case .file: file
        case .lines: ["--lines"]
        case .events: ["--events"]
        case .resumable: file + ["-C"]
        case .checked: file + ["--checksum", "sha256:" + String(repeating: "0", count: 64)]
        }
    }

    var writesFile: Bool { [.file, .resumable, .checked].contains(self) }
}
