import Dispatch

/// Writes to one descriptor, one piece after the other: lines from many tasks never mix, and each is out when its call
/// returns.
///
/// A queue of its own does the writing, since a reader that is slow would otherwise hold a thread of the task pool.
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
    /// - Throws: ``ToolFailure``: ``ProcessStatus/closedPipe`` when the reader has gone, else ``ProcessStatus/file``.
    func write(_ bytes: some Sequence<UInt8> & Sendable) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            queue.async { continuation.resume(with: Result { try self.writeNow(bytes) }) }
        }
    }

    /// Writes a text and a line end.
    func writeLine(_ text: String) async throws { try await write(Array((text + "\n").utf8)) }

    /// Writes without waiting for it. For progress, whose loss hurts nobody.
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
        // There is nowhere left to report a standard error that can't be written.
        try? await standardError.writeLine(TerminalText.visible(message))
    }
}
