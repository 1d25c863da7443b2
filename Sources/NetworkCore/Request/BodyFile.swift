import Dispatch
import FoundationEssentials

import CLibrary

/// A file to send. Read on a queue of its own: a disk may be slow, and neither the loop nor the caller's threads wait
/// for it.
struct BodyFile: Sendable {
    let path: String
    let length: Int
    private static let pieceBytes = 65_536

    init(path: String) throws {
        do throws(SystemFile.Failure) {
            guard let status = try SystemFile.status(of: path) else { throw SystemFile.Failure(code: ENOENT) }
            guard status.st_mode & S_IFMT == S_IFREG else { throw SystemFile.Failure(code: EISDIR) }
            length = Int(status.st_size)
        } catch {
            throw NetworkError.unreadable(path, error)
        }
        guard access(path, R_OK) == 0 else { throw NetworkError.unreadableFile(path, errno) }
        self.path = path
    }

    /// Hands out the contents piece by piece.
    func read(_ deliver: @Sendable (Data) async throws -> Void) async throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw NetworkError.unreadableFile(path, errno) }
        defer { close(descriptor) }
        let queue = DispatchQueue(label: "NetworkLayer.BodyFile")
        while true {
            let piece = try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Data, any Error>) in
                queue.async { continuation.resume(with: Result { try nextPiece(of: descriptor) }) }
            }
            if piece.isEmpty { return }
            try await deliver(piece)
        }
    }

    private func nextPiece(of descriptor: Int32) throws -> Data {
        var piece = [UInt8](repeating: 0, count: Self.pieceBytes)
        while true {
            let count = CLibrary.read(descriptor, &piece, piece.count)
            if count >= 0 { return Data(piece.prefix(count)) }
            guard errno == EINTR else { throw NetworkError.unreadableFile(path, errno) }
        }
    }
}

extension NetworkError {
    fileprivate static func unreadableFile(_ path: String, _ number: Int32) -> NetworkError {
        unreadable(path, SystemFile.Failure(code: number))
    }

    fileprivate static func unreadable(_ path: String, _ failure: SystemFile.Failure) -> NetworkError {
        file(path, failure, .unreadableFile, "can't be sent", .preparing)
    }
}
