public import FoundationEssentials
import NetworkCore

extension Recording {
    /// Reads a HAR 1.2 document, of this library or of a browser.
    ///
    /// Members that are not known are ignored. Pseudo fields of HTTP/2 are skipped; a status of 0 is a failure; a body
    /// that is not in the document counts as ``Body/omitted``. The recording contains the document's secrets.
    /// - Parameters:
    ///   - har: The document in UTF-8, nested no deeper than 512, with at most 16 million values, a million entries and
    ///     10,000 fields in a head.
    ///   - maximumBytes: The limit on its size. Default: 256 MiB.
    /// - Throws: ``NetworkCore/NetworkError`` with the code `invalidRecording`, whose message names the place in the
    ///   document.
    public init(har: Data, maximumBytes: Int = maximumFileBytes) throws {
        self = try HARReader.recording(in: har, maximumBytes: maximumBytes)
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
        var shown = self
        for index in shown.entries.indices { shown.entries[index].redactSecrets(bodies: bodies) }
        return HARWriter.text(of: shown)
    }
}
