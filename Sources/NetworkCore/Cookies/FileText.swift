#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Small text files: read with a limit, written as a whole or not at all.
enum FileText {
    /// - Throws: ``NetworkError/Code/unreadableFile``, also for more bytes than the limit.
    static func read(_ path: String, limit: Int) throws -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw NetworkError.file(path, "can't be read", errno) }
        defer { close(descriptor) }
        var text: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = posixRead(descriptor, &piece, piece.count)
            if count == 0 { return String(decoding: text, as: UTF8.self) }
            guard count > 0 else {
                if errno == EINTR { continue }
                throw NetworkError.file(path, "can't be read", errno)
            }
            guard text.count + count <= limit else { throw NetworkError.file(path, "can't be read", EFBIG) }
            text += piece.prefix(count)
        }
    }

    /// Writes a file that its owner alone may read, and puts it in the place of one that is there when it is complete.
    /// - Throws: ``NetworkError/Code/unwritableFile``.
    static func write(_ text: String, to path: String) throws {
        let draft = "\(path).\(UInt64.random(in: 0 ... .max)).tmp"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw NetworkError.file(path, "can't be written", errno, .unwritableFile) }
        var problem = writeAll(Array(text.utf8), to: descriptor)
        if close(descriptor) != 0, problem == nil { problem = errno }
        if problem == nil, rename(draft, path) != 0 { problem = errno }
        guard let problem else { return }
        unlink(draft)
        throw NetworkError.file(path, "can't be written", problem, .unwritableFile)
    }

    /// - Returns: The number of what went wrong.
    private static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Int32? {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = posixWrite(descriptor, Array(rest.prefix(65_536)), min(rest.count, 65_536))
            guard count >= 0 else {
                if errno == EINTR { continue }
                return errno
            }
            rest = rest.dropFirst(count)
        }
        return nil
    }
}

extension NetworkError {
    fileprivate static func file(_ path: String, _ what: String, _ number: Int32, _ code: Code = .unreadableFile)
        -> Self
    {
        NetworkError(
            code,
            "the file '\(path)' \(what)",
            phase: .preparing,
            underlying: Underlying(domain: "errno", code: Int(number), message: String(cString: strerror(number)))
        )
    }
}

// Under other names, since a method of the same name hides the C function, and the module to name differs.
private let posixRead = read
private let posixWrite = write
