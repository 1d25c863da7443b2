import CLibrary
import FoundationEssentials

/// Small text files: read up to a limit, written completely or not at all.
enum FileText {
    /// Reads a regular file.
    static func read(_ path: String, limit: Int) throws(NetworkError) -> Data {
        let text = try SystemFile.contents(of: path, upTo: limit)
        guard text.count <= limit else { throw .file(path, EFBIG, isToRead: true) }
        return text
    }

    /// Reads a file; returns `nil` if there is none, or a pipe or a device that ``write(_:to:)`` would write to.
    static func readIfPresent(_ path: String, limit: Int) throws(NetworkError) -> Data? {
        if SystemFile.isPipeOrDevice(path) { return nil }
        do { return try read(path, limit: limit) } catch {
            if error.errno == ENOENT { return nil }
            throw error
        }
    }

    /// Writes a file that only its owner may read. The file replaces an existing one once it is complete.
    static func write(_ text: Data, to path: String) throws {
        try FileSignals.blocking {
            switch try FilePlace(toWrite: path) {
            case .file(let path, _): try replace(path, by: text)
            case .special: try write(text, closing: try SystemFile(opening: path, O_WRONLY))
            case .open(let number): try write(text, closing: try SystemFile(duplicating: number))
            }
        }
    }

    private static func replace(_ path: String, by text: Data) throws(NetworkError) {
        // In the same folder, with a name that no file's name makes too long. The owner of the file that it replaces is
        // not passed on: another user may have put that file there.
        let draft = "\(FilePlace.folder(of: path)).\(UInt64.random(in: 0 ... .max)).tmp"
        let file = try SystemFile(opening: draft, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600, shown: path)
        do throws(NetworkError) {
            try write(text, closing: file)
            try SystemFile.rename(draft, to: path)
        } catch {
            try? SystemFile.remove(draft)  // Only the first error is reported.
            throw error
        }
    }

    private static func write(_ text: Data, closing file: SystemFile) throws(NetworkError) {
        let written = Result { () throws(NetworkError) in try file.write(text) }
        let closed = Result { () throws(NetworkError) in try file.close() }
        try written.get()
        try closed.get()
    }
}
