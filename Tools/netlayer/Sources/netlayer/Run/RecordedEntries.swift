import Foundation
import NetworkLayer
import NetworkRecording

/// The exchanges of a HAR file, without those that are no exchanges of HTTP, as browsers write them: of a WebSocket, of
/// a URL that has its data in it, of a script.
struct RecordedEntries {
    /// Each with its number in the file, from 1 on.
    let all: [(number: Int, entry: Recording.Entry)]
    /// What the user has to know of the file; empty if there is nothing.
    private(set) var notes: [String] = []

    init(har: Data, of name: String, acceptsIncomplete: Bool = false) throws {
        let recording = try Recording(har: har)
        if recording.isIncomplete {
            let text = "\(name) is incomplete: its program was ended, or reached the limit of the file"
            guard acceptsIncomplete else { throw NetworkError(.invalidRecording, text, phase: .preparing) }
            notes.append(text)
        }
        var others: [String: Int] = [:]
        var found: [(number: Int, entry: Recording.Entry)] = []
        for (index, entry) in recording.entries.enumerated() {
            if let scheme = Self.foreignScheme(of: entry.request.url) {
                others[scheme, default: 0] += 1
            } else {
                found.append((index + 1, entry))
            }
        }
        all = found
        guard !others.isEmpty else { return }
        let shown = others.sorted { $0.key < $1.key }.map { "\($0.value) of \($0.key):" }
        notes.append("of \(name), entries are left out: \(shown.joined(separator: ", "))")
    }

    var byStart: [Recording.Entry] { all.map(\.entry).sorted { $0.started < $1.started } }

    func say() async { for note in notes { await OutputWriter.say("netlayer: \(note)") } }

    /// Returns the scheme of a URL that HTTP does not carry; `nil` for a text without one, which is no URL at all.
    private static func foreignScheme(of url: String) -> String? {
        guard let end = url.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let scheme = String(url[..<end]).lowercasedASCII
        let isScheme = scheme.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x2B...0x39).contains($0) }
        return isScheme && !["http", "https"].contains(scheme) ? TerminalText.visible(scheme) : nil
    }
}
