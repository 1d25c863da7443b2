import HTTPTypes

/// The names of the header fields that most servers send, created once. Creating a name checks it, lowercases it, and
/// allocates.
enum FieldNames {
    /// The names by their length in bytes, in their usual spellings.
    private static let known: [[(bytes: [UInt8], name: HTTPField.Name)]] = {
        let spelled = [
            "Accept-Ranges", "Access-Control-Allow-Origin", "Age", "Alt-Svc", "Cache-Control", "Connection",
            "Content-Disposition", "Content-Encoding", "Content-Language", "Content-Length", "Content-Type", "Date",
            "ETag",
            "Expires", "Keep-Alive", "Last-Modified", "Link", "Location", "Pragma", "Retry-After", "Server",
            "Set-Cookie",
            "Strict-Transport-Security", "Transfer-Encoding", "Vary", "Via", "X-Content-Type-Options",
            "X-Frame-Options",
            "X-Powered-By", "X-Request-Id",
        ]
        var table: [[(bytes: [UInt8], name: HTTPField.Name)]] = []
        // HTTP/2 and HTTP/3 send them in lowercase.
        for text in spelled + spelled.map({ $0.lowercased() }) {
            guard let name = HTTPField.Name(text) else { continue }
            let bytes = Array(text.utf8)
            while table.count <= bytes.count { table.append([]) }
            table[bytes.count].append((bytes, name))
        }
        return table
    }()

    /// Returns the name with this spelling; `nil` if it is not a valid name.
    static func name(_ bytes: ArraySlice<UInt8>) -> HTTPField.Name? {
        if bytes.count < known.count {
            for candidate in known[bytes.count] where bytes.elementsEqual(candidate.bytes) { return candidate.name }
        }
        return HTTPField.Name(String(decoding: bytes, as: UTF8.self))
    }
}
