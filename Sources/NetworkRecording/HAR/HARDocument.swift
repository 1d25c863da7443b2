public import FoundationEssentials
import NetworkCore

/// A HAR 1.2 document. Members that are not known are ignored.
struct HARDocument: Decodable {
    struct Log: Decodable {
        let entries: [HAREntry]
        let _incomplete: Bool?
    }

    let log: Log

    /// The most values, arrays and objects that are read. Each takes memory of its own.
    static let maximumValues = 16_777_216

    /// The text before the first entry.
    static let start = Array(
        """
        {"log":{"version":"1.2","creator":{"name":"NetworkLayer","version":"\(NetworkLayerVersion.current)"},"entries":[

        """.utf8)
    /// The text between two entries.
    static let separator = Array(",\n".utf8)

    /// Returns the text after the last entry; of the same length for both, so that one write ends a document that grew.
    static func end(isIncomplete: Bool) -> [UInt8] {
        Array("\n],\"_incomplete\":\(isIncomplete ? "true " : "false")}}\n".utf8)
    }

    /// Returns the number of values of a text of JSON, before they take memory.
    static func valueCount(of bytes: some Sequence<UInt8>) -> Int {
        var (count, isString, isEscaped) = (0, false, false)
        for byte in bytes {
            switch byte {
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\\"): isEscaped = isString
            case UInt8(ascii: "\""): isString.toggle()
            case UInt8(ascii: ","), UInt8(ascii: "["), UInt8(ascii: "{"): count += isString ? 0 : 1
            default: break
            }
        }
        return count
    }
}

extension Recording {
    /// Reads a HAR 1.2 document, of this library or of a browser.
    ///
    /// Members that are not known are ignored. Pseudo fields of HTTP/2 are skipped; a status of 0 is a failure; a body
    /// that is not in the document counts as ``Body/omitted``. The recording contains the document's secrets.
    /// - Parameters:
    ///   - har: The document in UTF-8, nested no deeper than 512, with at most 16 million values and 10,000 fields in a
    ///     head.
    ///   - maximumBytes: The limit on its size. Default: 256 MiB.
    /// - Throws: ``NetworkCore/NetworkError`` with the code `invalidRecording`, whose message names the place in the
    ///   document.
    public init(har: Data, maximumBytes: Int = maximumFileBytes) throws {
        guard har.count <= maximumBytes else {
            throw NetworkError.invalidRecording("it has more than \(maximumBytes) bytes")
        }
        guard HARDocument.valueCount(of: har) <= HARDocument.maximumValues else {
            throw NetworkError.invalidRecording("it has more than \(HARDocument.maximumValues) values")
        }
        do {
            let log = try JSONDecoder().decode(HARDocument.self, from: har).log
            self.init(entries: log.entries.map(\.entry))
            isIncomplete = log._incomplete ?? false
        } catch let error as DecodingError {
            throw NetworkError.invalidRecording(error.place)
        }
    }

    /// Reads a HAR 1.2 document from a text in UTF-8; see ``init(har:maximumBytes:)-(Data,_)``.
    public init(har: String, maximumBytes: Int = maximumFileBytes) throws {
        try self.init(har: Data(har.utf8), maximumBytes: maximumBytes)
    }

    /// Reads a HAR 1.2 file; see ``init(har:maximumBytes:)-(Data,_)``. Blocks while it reads.
    /// - Parameters:
    ///   - path: The path of a regular file.
    ///   - maximumBytes: The limit on its size. Default: 256 MiB.
    /// - Throws: ``NetworkCore/NetworkError/Code/unreadableFile``; the code `invalidRecording`.
    public init(contentsOf path: String, maximumBytes: Int = maximumFileBytes) throws {
        try self.init(
            har: try PrivateFile.contents(of: path, upTo: max(0, maximumBytes)), maximumBytes: maximumBytes)
    }

    /// Returns the recording as a HAR 1.2 document, one line for each entry, without secrets.
    /// - Parameter bodies: The bodies that are kept. Default: those with a structure.
    public func harText(bodies: Bodies = .structured) -> String {
        String(decoding: document(bodies), as: UTF8.self)
    }

    /// Writes the recording as a HAR 1.2 file that only its owner may read, without secrets. Blocks while it writes.
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - overwrites: Whether there may be a file already. Default: `false`.
    ///   - bodies: The bodies that are kept. Default: those with a structure.
    /// - Throws: ``NetworkCore/NetworkError/Code/unwritableFile``, also for a file that exists;
    ///   ``NetworkCore/NetworkError/Code/diskFull``.
    public func write(to path: String, overwrites: Bool = false, bodies: Bodies = .structured) throws {
        let file = try PrivateFile(creating: path, replaces: overwrites)
        do {
            try file.write(Data(document(bodies)), at: 0)
        } catch {
            try? file.close()
            throw error
        }
        try file.close()
    }

    private func document(_ bodies: Bodies) -> [UInt8] {
        let lines = entries.map { entry in
            var shown = entry
            shown.redactSecrets(bodies: bodies)
            return shown.harLine
        }
        return HARDocument.start + lines.joined(separator: HARDocument.separator)
            + HARDocument.end(isIncomplete: isIncomplete)
    }
}

extension DecodingError {
    /// The place of the problem, such as `log.entries[3].response.status`, and what it is.
    fileprivate var place: String {
        switch self {
        case .keyNotFound(let key, let context): "\(Self.place(context)) has no member '\(key.stringValue)'"
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            "\(Self.place(context)): \(context.debugDescription)"
        @unknown default: "it is no HAR document"
        }
    }

    private static func place(_ context: Context) -> String {
        let path = context.codingPath.map { key in key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)" }
        return path.isEmpty ? "the document" : String(path.joined().drop { $0 == "." })
    }
}

extension NetworkError {
    /// Returns the error for a document that can't be used.
    static func invalidRecording(_ problem: String) -> NetworkError {
        NetworkError(.invalidRecording, "the recording can't be read: \(problem)", phase: .preparing)
    }
}
