import FoundationEssentials
import NetworkCore
import Synchronization

/// Bodies by a short name: a kind and a count of bytes.
enum Payload {
    /// The most bytes before they are packed.
    static let maximumBytes = 4 << 20

    /// Made once: megabytes take longer than their way over the wire.
    private static let made = Mutex<[String: [UInt8]]>([:])

    /// `gz:2000` for example; a number alone is plain bytes.
    static func bytes(_ name: String) -> [UInt8] {
        if let bytes = made.withLock({ $0[name] }) { return bytes }
        let bytes = make(name)
        made.withLock { made in
            if made.count == 64 { made = [:] }
            made[name] = bytes
        }
        return bytes
    }

    private static func make(_ name: String) -> [UInt8] {
        let parts = name.split(separator: ":", maxSplits: 1)
        let count = min(max(parts.last.flatMap { Int($0) } ?? 0, 0), maximumBytes)
        switch parts.count > 1 ? parts[0] : "" {
        case "gz": return packed(plain(count))
        case "gg": return packed(packed(plain(count)))
        case "zeros": return packed([UInt8](repeating: 0, count: count))
        // What servers call deflate: gzip without its frame.
        case "df": return Array(packed(plain(count)).dropFirst(10).dropLast(8))
        case "lines": return repeated("a line of text\n", count)
        case "json": return repeated("{\"a\":[1,2,{\"b\":\"c\"}]}\n", count)
        case "events": return repeated("id: 7\nevent: e\ndata: d\ndata: f\n\n", count)
        default: return plain(count)
        }
    }

    private static func repeated(_ text: String, _ count: Int) -> [UInt8] {
        let text = Array(text.utf8)
        return (0..<count).map { text[$0 % text.count] }
    }

    private static func plain(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: ($0 &* 31) ^ ($0 >> 8)) & 0x7F | 0x20 }
    }

    private static func packed(_ bytes: [UInt8]) -> [UInt8] {
        var options = TransportOptions()
        options.requestCompression = .gzip
        guard let url = try? RequestURL("http://localhost/"),
            let body = try? TransportRequest(method: .post, url: url, body: .bytes(Data(bytes)), options: options)
                .wireBody()?.knownBytes
        else { preconditionFailure("a body can't be packed") }
        return Array(body)
    }
}
