import CLibrary
import Dispatch
import FoundationEssentials

/// A file to send. It is read on a queue of its own, because a disk may be slow, and neither the loop nor the caller's
/// threads may block.
struct BodyFile: Sendable {
    let path: String
    let length: Int
    private static let pieceBytes = 65_536

    init(path: String) throws {
        do throws(SystemFile.Failure) {
            guard let status = try SystemFile.status(of: path) else { throw SystemFile.Failure(code: ENOENT) }
            let kind = status.st_mode & S_IFMT
            if kind == S_IFDIR { throw SystemFile.Failure(code: EISDIR) }
            // A pipe has no length and can't be sent again.
            guard kind == S_IFREG else { throw SystemFile.Failure(code: EINVAL, reason: "it is not a regular file") }
            length = Int(status.st_size)
            try Self.open(path).close()
        } catch {
            throw NetworkError.unreadable(path, error)
        }
        self.path = path
    }

    /// Passes the contents to the closure chunk by chunk.
    func read(_ deliver: @Sendable (Data) async throws -> Void) async throws {
        let file: SystemFile
        do { file = try Self.open(path) } catch { throw NetworkError.unreadable(path, error) }
        // Nothing was written, so closing can't lose anything.
        defer { try? file.close() }
        let queue = DispatchQueue(label: "NetworkLayer.BodyFile")
        while true {
            let piece = try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Data, any Error>) in
                queue.async { continuation.resume(with: Result { try nextPiece(of: file) }) }
            }
            if piece.isEmpty { return }
            try await deliver(piece)
        }
    }

    private static func open(_ path: String) throws(SystemFile.Failure) -> SystemFile {
        try SystemFile(opening: path, O_RDONLY)
    }

    private func nextPiece(of file: SystemFile) throws -> Data {
        do { return try file.read(upTo: Self.pieceBytes) } catch { throw NetworkError.unreadable(path, error) }
    }
}

extension NetworkError {
    fileprivate static func unreadable(_ path: String, _ failure: SystemFile.Failure) -> NetworkError {
        file(path, failure, .unreadableFile, "can't be sent", .preparing)
    }
}
