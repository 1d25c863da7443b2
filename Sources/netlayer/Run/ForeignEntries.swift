import NetworkLayer
import NetworkRecording

/// The entries of a HAR file that are no requests of HTTP, as browsers write them: of a WebSocket, or of a URL with its
/// data in it. They are left out, and are said.
struct ForeignEntries {
    private static let schemes: Set<String> = ["about", "blob", "chrome-extension", "data", "file", "ws", "wss"]
    private var counts: [String: Int] = [:]

    /// Counts an entry if it is one of these.
    mutating func take(_ entry: Recording.Entry) -> Bool {
        let scheme = String(entry.request.url.prefix { $0 != ":" }).lowercasedASCII
        guard Self.schemes.contains(scheme) else { return false }
        counts[scheme, default: 0] += 1
        return true
    }

    /// Writes what was left out of a file to standard error.
    func say(of name: String) async {
        guard !counts.isEmpty else { return }
        let shown = counts.sorted { $0.key < $1.key }.map { "\($0.value) of \($0.key):" }
        await OutputWriter.say("netlayer: of \(name), entries are left out: \(shown.joined(separator: ", "))")
    }
}
