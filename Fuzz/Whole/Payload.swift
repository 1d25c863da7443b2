import FoundationEssentials
import NetworkCore
import Synchronization

/// Bodies with a short name: a kind and a number of bytes.
enum Payload {
    /// The largest body, in bytes before compression.
    static let maximumBytes = 4 << 20

    /// A cache, because creating megabytes takes longer than sending them.
    private static let made = Mutex<[String: [UInt8]]>([:])

    /// Returns the bytes for a name such as `gz:2000`; a number alone means plain bytes.
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
        // What servers call deflate: the deflate data of gzip, without its header and trailer.
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
