import CLibrary
import Dispatch
import FoundationEssentials

/// A file to send. It is opened and read on a queue of its own, because a disk may be slow, and neither the loop nor
/// the threads of other tasks may block. Only its length is read where the request is made.
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
        let queue = DispatchQueue(label: "NetworkLayer.BodyFile")
        let file = try await perform(on: queue) { try opened() }
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await pass(file, on: queue, to: deliver))
        } catch {
            outcome = .failure(error)
        }
        // Nothing was written, so closing can't lose anything.
        try await perform(on: queue) { try? file.close() }
        try outcome.get()
    }

    private func pass(
        _ file: SystemFile, on queue: DispatchQueue, to deliver: @Sendable (Data) async throws -> Void
    ) async throws {
        while true {
            let piece = try await perform(on: queue) { try nextPiece(of: file) }
            if piece.isEmpty { return }
            try await deliver(piece)
        }
    }

    private func perform<Value: Sendable>(
        on queue: DispatchQueue, _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
            queue.async { continuation.resume(with: Result { try work() }) }
        }
    }

    private func opened() throws -> SystemFile {
        do { return try SystemFile(openingRegularFile: path) } catch { throw NetworkError.unreadable(path, error) }
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
