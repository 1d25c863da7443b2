import Foundation

/// A file or standard input, read chunk by chunk on a queue of its own, because a read may block indefinitely.
final class ByteSource: Sendable {
    /// The name of the source in error messages.
    let name: String
    private let descriptor: Descriptor
    /// Whether the source has opened the descriptor, and closes it.
    private let isOwned: Bool
    private let queue = DispatchQueue(label: "netlayer.input")
    private let waiting = Guarded<CheckedContinuation<[UInt8], any Error>?>(nil)
    private let isStopped = OneTimeFlag()

    /// Opens a file; `-` is standard input.
    init(path: String, name: String? = nil) throws {
        isOwned = path != "-"
        self.name = name ?? (isOwned ? path : "standard input")
        do { descriptor = isOwned ? try Descriptor.open(path, O_RDONLY) : .standardInput } catch {
            throw ToolFailure.unreadable(name ?? path, error)
        }
    }

    /// Creates a source from an open descriptor, which stays open.
    init(reading number: Int32, name: String) {
        (self.name, descriptor, isOwned) = (name, Descriptor(number: number), false)
    }

    // Nothing was written whose loss an error could tell.
    deinit { if isOwned { try? descriptor.close() } }

    /// Returns the next bytes; empty at the end and after ``stop()``. One task at a time may read.
    /// - Throws: ``ToolFailure``; `CancellationError`, although the read goes on.
    func read() async throws -> [UInt8] {
        let bytes = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                waiting.withLock { $0 = continuation }
                if isStopped.isRaised { return end(.success([])) }
                queue.async { [self] in
                    do throws(SystemFailure) {
                        end(.success(try descriptor.read()))
                    } catch {
                        end(.failure(ToolFailure.unreadable(name, error)))
                    }
                }
            }
        } onCancel: {
            stop()
        }
        try Task.checkCancellation()
        return bytes
    }

    /// Ends the source, while a read that has begun may go on.
    func stop() {
        _ = isStopped.raise()
        end(.success([]))
    }

    private func end(_ result: Result<[UInt8], any Error>) {
        let reader = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        reader?.resume(with: result)
    }

    /// Returns everything up to the end of the source.
    /// - Throws: ``ToolFailure`` if there are more than `limit` bytes, or the source can't be read.
    func readAll(limit: Int) async throws -> [UInt8] {
        var all: [UInt8] = []
        while case let chunk = try await read(), !chunk.isEmpty {
            all += chunk
            guard all.count <= limit else {
                throw ToolFailure(.file, "\(name) is larger than the limit of \(limit) bytes")
            }
        }
        return all
    }

    /// Returns the lines, as ``LineSplitter`` makes them.
    func lines(limit: Int) -> Lines { Lines(source: self, splitter: LineSplitter(limit: limit)) }

    struct Lines: AsyncSequence, AsyncIteratorProtocol {
        fileprivate let source: ByteSource
        fileprivate var splitter: LineSplitter
        private var lines: ArraySlice<LineSplitter.Line> = []
        private var isOver = false

        fileprivate init(source: ByteSource, splitter: LineSplitter) {
            (self.source, self.splitter) = (source, splitter)
        }

        func makeAsyncIterator() -> Lines { self }

        mutating func next() async throws -> LineSplitter.Line? {
            while lines.isEmpty, !isOver {
                let chunk = try await source.read()
                isOver = chunk.isEmpty
                lines = isOver ? splitter.last().map { [$0] } ?? [] : splitter.lines(in: chunk)[...]
            }
            return lines.popFirst()
        }
    }
}

/// Splits a stream of bytes into lines, with a limit on their length.
struct LineSplitter {
    /// A line without its line ending.
    struct Line: Sendable, Equatable {
        /// The number of the line, from 1, blank lines included.
        var number: Int
        /// The bytes of the line; `nil` if it is longer than the limit.
        var bytes: [UInt8]?
    }

    private let limit: Int
    private var number = 1
    private var pending: [UInt8] = []
    private var isTooLong = false

    init(limit: Int) { self.limit = limit }

    /// Returns the lines that end in this chunk, without blank lines.
    mutating func lines(in chunk: [UInt8]) -> [Line] {
        var lines: [Line] = []
        var rest = chunk[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            keep(rest[..<end])
            if let line = close() { lines.append(line) }
            number += 1
            rest = rest[(end + 1)...]
        }
        keep(rest)
        return lines
    }

    /// Returns the last line if the stream does not end with a line ending.
    mutating func last() -> Line? { close() }

    private mutating func keep(_ part: ArraySlice<UInt8>) {
        guard !isTooLong else { return }
        guard part.count <= limit - pending.count else {
            isTooLong = true
            pending = []
            return
        }
        pending += part
    }

    private mutating func close() -> Line? {
        defer {
            pending = []
            isTooLong = false
        }
        if isTooLong { return Line(number: number, bytes: nil) }
        let isBlank = pending.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
        return isBlank ? nil : Line(number: number, bytes: pending)
    }
}
