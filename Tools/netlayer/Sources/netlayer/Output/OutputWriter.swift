import JSONText
import Dispatch
import NetworkCore

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
    /// The failure of the first write that failed. It may have written a part, so nothing may follow it.
    private let failure = Guarded<ToolFailure?>(nil)

    init(_ descriptor: Descriptor, named name: String) {
        self.descriptor = descriptor
        self.name = name
        queue = DispatchQueue(label: "netlayer.output.\(descriptor.number)")
    }

    /// Writes all bytes.
    /// - Throws: ``ToolFailure`` with ``ProcessStatus/closedPipe`` if the reader closed the pipe, otherwise with
    ///   ``ProcessStatus/file``. Every write after a failed one fails with the same error.
    func write(_ bytes: some Sequence<UInt8> & Sendable) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            queue.async { continuation.resume(with: Result { try self.writeNow(bytes) }) }
        }
    }

    func writeLine(_ text: String) async throws { try await write(Array((text + "\n").utf8)) }

    func writeLine(_ value: JSONValue) async throws { try await write(value.line + [UInt8(ascii: "\n")]) }

    /// Writes without waiting, and ignores errors. It is for progress, whose loss does no harm.
    func post(_ text: String) {
        queue.async { try? self.descriptor.write(text.utf8) }
    }

    private func writeNow(_ bytes: some Sequence<UInt8>) throws {
        if let failure = failure.withLock(\.self) { throw failure }
        do {
            try descriptor.write(bytes)
        } catch {
            let failure = ToolFailure.unwritable(name, error)
            self.failure.withLock { $0 = failure }
            throw failure
        }
    }
}

extension OutputWriter {
    static func say(_ message: String) async {
        // An error on standard error can't be reported anywhere.
        try? await standardError.writeLine(TerminalText.visible(message))
    }
}

/// Rows of text in columns.
struct Table {
    /// The alignment of a column.
    enum Alignment {
        case left
        case right
    }

    private let alignments: [Alignment]
    private var rows: [[String]]

    init(_ columns: [(title: String, alignment: Alignment)]) {
        alignments = columns.map(\.alignment)
        rows = [columns.map(\.title)]
    }

    mutating func add(_ row: [String]) { rows.append(row) }

    /// The lines, with two spaces between columns and none at the end of a line.
    var lines: [String] {
        let widths = alignments.indices.map { column in
            rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
        }
        return rows.map { row in
            let cells = zip(row, zip(widths, alignments)).map { text, column in
                let padding = String(repeating: " ", count: column.0 - text.count)
                return column.1 == .left ? text + padding : padding + text
            }
            let line = cells.joined(separator: "  ")
            return String(line[..<(line.lastIndex { $0 != " " }.map { line.index(after: $0) } ?? line.startIndex)])
        }
    }
}
