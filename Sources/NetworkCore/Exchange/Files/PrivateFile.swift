import CLibrary
package import FoundationEssentials

/// A file that only its owner may read and write. Each write goes to an offset.
package struct PrivateFile: Sendable {
    private let file: SystemFile
    private let path: String

    /// Creates a file with the permissions 0600, or empties an existing one and restricts it to them.
    package init(creating path: String, replaces: Bool) throws(NetworkError) {
        self.path = path
        file = try SystemFile(opening: path, O_RDWR | O_CREAT | (replaces ? 0 : O_EXCL), mode: 0o600)
        try takeOver()
    }

    /// Locks, empties and restricts a regular file. A device belongs to all users, and keeps its permissions.
    private func takeOver() throws(NetworkError) {
        do throws(NetworkError) {
            guard try file.status().st_mode & S_IFMT == S_IFREG else { return }
            // Some file systems have no locks (ENOLCK); then there is no second writer to keep out by one.
            guard (try? file.lock()) ?? true else { throw .file(path, EBUSY, "another recording is writing it") }
            try file.truncate(to: 0)
            try file.setPermissions(0o600)
        } catch {
            try? file.close()
            throw error
        }
    }

    /// Writes bytes at an offset from the start.
    package func write(_ bytes: Data, at offset: Int) throws(NetworkError) {
        try FileSignals.blocking { () throws(NetworkError) in
            try file.seek(to: offset)
            try file.write(bytes)
        }
    }

    /// Cuts the file at a length in bytes.
    package func truncate(to length: Int) throws(NetworkError) { try file.truncate(to: length) }

    /// Closes the file. A second call does nothing.
    package func close() throws(NetworkError) { try file.close() }

    /// Returns the contents of a regular file; of one that is longer than the limit, at least one byte more than that.
    package static func contents(of path: String, upTo limit: Int) throws(NetworkError) -> Data {
        try SystemFile.contents(of: path, upTo: limit)
    }
}
