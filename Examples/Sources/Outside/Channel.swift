import Foundation
import NetworkLayer

/// Pieces on their way from one task to another, one at a time: sending one waits until it is taken.
actor Channel {
    private var piece: Data?
    private var end: Result<Void, any Error>?
    private var isAbandoned = false
    private var waiting: [UUID: CheckedContinuation<Void, any Error>] = [:]

    /// Hands a piece over.
    func send(_ bytes: Data) async throws {
        guard !bytes.isEmpty else { return }
        try await wait { self.piece == nil || self.isAbandoned }
        guard !isAbandoned else { throw NetworkError(.connectionLost, "the other side has left", phase: .waiting) }
        piece = bytes
        wake()
        try await wait { self.piece == nil || self.isAbandoned }
    }

    /// The next piece; `nil` at the end.
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

    /// No more is sent.
    func finish(throwing error: (any Error)? = nil) {
        if end == nil { end = error.map { .failure($0) } ?? .success(()) }
        wake()
    }

    /// No more is read.
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
