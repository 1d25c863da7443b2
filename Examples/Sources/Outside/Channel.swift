import Foundation
import NetworkLayer

/// A channel that passes chunks from one task to another, one at a time: `send` waits until the chunk is taken.
actor Channel {
    private var piece: Data?
    private var end: Result<Void, any Error>?
    private var isAbandoned = false
    private var waiting: [UUID: CheckedContinuation<Void, any Error>] = [:]

    /// Sends a chunk, and waits until it is taken.
    func send(_ bytes: Data) async throws {
        guard !bytes.isEmpty else { return }
        try await wait { self.piece == nil || self.isAbandoned }
        guard !isAbandoned else { throw NetworkError(.connectionLost, "the other side has left", phase: .waiting) }
        piece = bytes
        wake()
        try await wait { self.piece == nil || self.isAbandoned }
    }

    /// Returns the next chunk; `nil` at the end.
    func next() async throws -> Data? {
        try await wait { self.piece != nil || self.end != nil }
        defer { wake() }
        if let piece {
            self.piece = nil
            return piece
        }
        try end?.get()
        return nil
    }

    /// Ends the channel: no more chunks are sent.
    func finish(throwing error: (any Error)? = nil) {
        if end == nil { end = error.map { .failure($0) } ?? .success(()) }
        wake()
    }

    /// Abandons the channel: no more chunks are read.
    func abandon() {
        isAbandoned = true
        piece = nil
        wake()
    }

    private func wait(until isTrue: () -> Bool) async throws {
        while !isTrue() {
            let number = UUID()
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                    if Task.isCancelled { return continuation.resume(throwing: NetworkError.cancelled) }
                    waiting[number] = continuation
                }
            } onCancel: {
                Task { await self.giveUp(number) }
            }
        }
    }

    private func giveUp(_ number: UUID) {
        waiting.removeValue(forKey: number)?.resume(throwing: NetworkError.cancelled)
    }

    private func wake() {
        let woken = waiting.values
        waiting = [:]
        for continuation in woken { continuation.resume() }
    }
}
