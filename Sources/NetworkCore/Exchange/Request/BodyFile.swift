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
        // A pipe has no length and can't be sent again.
        let file = try SystemFile(openingRegularFile: path)
        // Nothing was written, so closing can't lose anything.
        defer { try? file.close() }
        length = Int(try file.status().st_size)
        self.path = path
    }

    /// Passes the contents to the closure chunk by chunk.
    func read(_ deliver: @Sendable (Data) async throws -> Void) async throws {
        let queue = DispatchQueue(label: "NetworkLayer.BodyFile")
        let file = try await queue.perform { [path] in try SystemFile(openingRegularFile: path) }
        // Nothing was written, so closing can't lose anything.
        do {
            while case let piece = try await queue.perform({ try file.read(upTo: Self.pieceBytes) }), !piece.isEmpty {
                try await deliver(piece)
            }
        } catch {
            try? await queue.perform { try file.close() }
            throw error
        }
        try? await queue.perform { try file.close() }
    }
}

extension DispatchQueue {
    /// Does work on the queue: a disk may be slow, and neither the loop nor the threads of other tasks may block.
    func perform<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            async { continuation.resume(with: Result { try work() }) }
        }
    }
}
