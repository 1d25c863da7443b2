import CLibrary
import FoundationEssentials

/// Small text files: read with a limit, written as a whole or not at all.
enum FileText {
    /// - Throws: ``NetworkError/Code/unreadableFile``, also for more bytes than the limit.
    static func read(_ path: String, limit: Int) throws -> String {
        do throws(SystemFile.Failure) {
            let file = try SystemFile(opening: path, O_RDONLY)
            let text = Result { () throws(SystemFile.Failure) in try contents(of: file, limit: limit) }
            try file.close()
            return String(decoding: try text.get(), as: UTF8.self)
        } catch {
            throw NetworkError.file(path, error, .unreadableFile, "can't be read", .preparing)
        }
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

    /// Writes a file that its owner alone may read, and puts it in the place of one that is there when it is complete.
    /// - Throws: ``NetworkError/Code/unwritableFile``, ``NetworkError/Code/diskFull``.
    static func write(_ text: String, to path: String) throws {
        let draft = "\(path).\(UInt64.random(in: 0 ... .max)).tmp"
        do throws(SystemFile.Failure) {
            let file = try SystemFile(opening: draft, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
            let written = Result { () throws(SystemFile.Failure) in try file.write(Data(text.utf8)) }
            let closed = Result { () throws(SystemFile.Failure) in try file.close() }
            do throws(SystemFile.Failure) {
                try written.get()
                try closed.get()
                try SystemFile.rename(draft, to: path)
            } catch {
                try SystemFile.remove(draft)
                throw error
            }
        } catch {
            throw NetworkError.file(path, error)
        }
    }
}
