import Dispatch

/// Writes to one descriptor, one call after another: lines of several tasks never mix, and the bytes have been written
/// when a call returns.
///
/// A queue of its own does the writing, because a slow reader would otherwise block a thread of the task pool.
final class OutputWriter: Sendable {
    static let standardOutput = OutputWriter(.standardOutput, named: "standard output")
    static let standardError = OutputWriter(.standardError, named: "standard error")

    private let descriptor: Descriptor
    private let name: String
    private let queue: DispatchQueue

    init(_ descriptor: Descriptor, named name: String) {
        self.descriptor = descriptor
        self.name = name
        queue = DispatchQueue(label: "netlayer.output.\(descriptor.number)")
    }

    /// Writes all bytes.
    /// - Throws: ``ToolFailure`` with ``ProcessStatus/closedPipe`` if the reader closed the pipe, otherwise with
    ///   ``ProcessStatus/file``.
    func write(_ bytes: some Sequence<UInt8> & Sendable) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            queue.async { continuation.resume(with: Result { try self.writeNow(bytes) }) }
        }
    }

    /// Writes a text and a line ending.
    func writeLine(_ text: String) async throws { try await write(Array((text + "\n").utf8)) }

    /// Writes without waiting, and ignores errors. It is for progress, whose loss does no harm.
    func post(_ text: String) {
        queue.async { try? self.descriptor.write(text.utf8) }
    }

    private func writeNow(_ bytes: some Sequence<UInt8>) throws {
        do {
            try descriptor.write(bytes)
        } catch {
            throw ToolFailure.unwritable(name, error)
        }
    }
}

extension OutputWriter {
    /// Writes one line to standard error.
    static func say(_ message: String) async {
        // An error on standard error can't be reported anywhere.
        try? await standardError.writeLine(TerminalText.visible(message))
    }
}
