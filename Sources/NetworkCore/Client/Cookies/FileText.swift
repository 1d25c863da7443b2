import CLibrary
import FoundationEssentials

/// Small text files: read up to a limit, written completely or not at all.
enum FileText {
    /// Reads a regular file.
    /// - Throws: ``NetworkError/Code/unreadableFile``, also for a file of more bytes than the limit.
    static func read(_ path: String, limit: Int) throws -> Data {
        do throws(SystemFile.Failure) { return try text(of: path, limit: limit) } catch {
            throw unreadable(path, error)
        }
    }

    /// Reads a file; returns `nil` if there is none, or a pipe or a device that ``write(_:to:)`` would write to.
    static func readIfPresent(_ path: String, limit: Int) throws -> Data? {
        if SystemFile.isPipeOrDevice(path) { return nil }
        do throws(SystemFile.Failure) {
            return try text(of: path, limit: limit)
        } catch {
            if error.code == ENOENT { return nil }
            throw unreadable(path, error)
        }
    }

    private static func unreadable(_ path: String, _ failure: SystemFile.Failure) -> NetworkError {
        NetworkError.file(path, failure, .unreadableFile, "can't be read", .preparing)
    }

    private static func text(of path: String, limit: Int) throws(SystemFile.Failure) -> Data {
        let file = try SystemFile(openingRegularFile: path)
        let text = Result { () throws(SystemFile.Failure) in try contents(of: file, limit: limit) }
        try file.close()
        return try text.get()
    }

    private static func contents(of file: SystemFile, limit: Int) throws(SystemFile.Failure) -> Data {
        var text = Data()
        while true {
            let piece = try file.read()
            if piece.isEmpty { return text }
            guard text.count + piece.count <= limit else { throw SystemFile.Failure(code: EFBIG) }
            text.append(piece)
        }
    }

    /// Writes a file that only its owner may read. The file replaces an existing one once it is complete. A file that
    /// is not a regular one is written to directly; see ``FilePlace``.
    /// - Throws: ``NetworkError/Code/unwritableFile``, ``NetworkError/Code/diskFull``.
    static func write(_ text: Data, to path: String) throws {
        do throws(SystemFile.Failure) {
            try FileSignals.blocking { () throws(SystemFile.Failure) in
                switch try FilePlace.find(path) {
                case .file(let path, _): try replace(path, by: text)
                case .special: try write(text, closing: try SystemFile(opening: path, O_WRONLY))
                case .open(let number): try write(text, closing: try SystemFile(duplicating: number))
                }
            }
        } catch {
            throw NetworkError.file(path, error)
        }
    }

    private static func replace(_ path: String, by text: Data) throws(SystemFile.Failure) {
        // In the same folder, with a name that no file's name makes too long. The owner of the file that it replaces is
        // not passed on: another user may have put that file there.
        let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? ""
        let draft = "\(folder).\(UInt64.random(in: 0 ... .max)).tmp"
        let file = try SystemFile(opening: draft, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        do throws(SystemFile.Failure) {
            try write(text, closing: file)
            try SystemFile.rename(draft, to: path)
        } catch {
            try? SystemFile.remove(draft)  // Only the first error is reported.
            throw error
        }
    }

    private static func write(_ text: Data, closing file: SystemFile) throws(SystemFile.Failure) {
        let written = Result { () throws(SystemFile.Failure) in try file.write(text) }
        let closed = Result { () throws(SystemFile.Failure) in try file.close() }
        try written.get()
        try closed.get()
    }
}
