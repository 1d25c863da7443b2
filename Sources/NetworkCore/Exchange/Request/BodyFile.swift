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
            // A pipe has no length and can't be sent again.
            let file = try SystemFile(openingRegularFile: path)
            // Nothing was written, so closing can't lose anything.
            defer { try? file.close() }
            length = Int(try file.status().st_size)
        } catch {
            throw NetworkError.unreadable(path, error)
        }
        self.path = path
    }

    /// Passes the contents to the closure chunk by chunk.
    func read(_ deliver: @Sendable (Data) async throws -> Void) async throws {
        let file: SystemFile
        do { file = try SystemFile(openingRegularFile: path) } catch { throw NetworkError.unreadable(path, error) }
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

    private func nextPiece(of file: SystemFile) throws -> Data {
        do { return try file.read(upTo: Self.pieceBytes) } catch { throw NetworkError.unreadable(path, error) }
    }
}

extension NetworkError {
    fileprivate static func unreadable(_ path: String, _ failure: SystemFile.Failure) -> NetworkError {
        file(path, failure, .unreadableFile, "can't be sent", .preparing)
    }
}
