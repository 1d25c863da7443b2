import Dispatch
import Foundation
import NetworkCore

/// A file or standard input as a sequence of chunks.
///
/// A thread of its own does the reading, because a read may block indefinitely. It stays at most ``ahead`` chunks ahead
/// of the consumer.
struct ByteSource: Sendable {
    /// The name of the source in error messages.
    let name: String
    private let descriptor: Descriptor
    /// Whether the source has opened the descriptor, and closes it once it is read.
    private let isOwned: Bool

    private static let ahead = 8

    /// Opens a file; `-` is standard input.
    /// - Parameter name: The name in error messages. Default: the path.
    /// - Throws: ``ToolFailure`` that names the file.
    init(path: String, name: String? = nil) throws {
        guard path != "-" else {
            self.name = "standard input"
            (descriptor, isOwned) = (.standardInput, false)
            return
        }
        let name = name ?? path
        (self.name, isOwned) = (name, true)
        do { descriptor = try Descriptor.open(path, O_RDONLY) } catch { throw ToolFailure.unreadable(name, error) }
    }

    /// Creates a source from an open descriptor, which stays open.
    init(reading number: Int32, name: String) {
        self.name = name
        (descriptor, isOwned) = (Descriptor(number: number), false)
    }

    /// Starts to read, and returns the chunks. Call it once: it closes the file in the end. When their consumer is
    /// gone, the thread ends, at the latest after a read that it has begun.
    /// - Parameter onEnd: Called when the thread ends. Default: nothing.
    func chunks(onEnd: @escaping @Sendable () -> Void = {}) -> Chunks {
        let (stream, continuation) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
        // Created with 0 and then raised: libdispatch traps if a semaphore is freed below its initial value.
        let room = DispatchSemaphore(value: 0)
        for _ in 0..<Self.ahead { room.signal() }
        let isOver = OneTimeFlag()
        continuation.onTermination = { _ in
            _ = isOver.raise()
            // The consumer makes no more room, for which the thread may wait.
            room.signal()
        }
        let thread = Thread { [descriptor, name, isOwned] in
            var failure: ToolFailure?
            do {
                while true {
                    room.wait()
                    if isOver.isRaised { break }
                    let chunk = try descriptor.read()
                    if chunk.isEmpty { break }
                    if case .terminated = continuation.yield(chunk) { break }
                }
            } catch {
                failure = ToolFailure.unreadable(name, error as? SystemFailure ?? SystemFailure(EIO))
            }
            // Nothing was written whose loss the error could tell.
            if isOwned { try? descriptor.close() }
            continuation.finish(throwing: failure)
            onEnd()
        }
        thread.name = "netlayer input"
        thread.start()
        return Chunks(stream: stream, room: room)
    }

    /// Returns everything up to the end of the source.
    /// - Throws: ``ToolFailure`` if there are more than `limit` bytes, or the source can't be read.
    func readAll(limit: Int) async throws -> [UInt8] {
        var all: [UInt8] = []
        for try await chunk in chunks() {
            all += chunk
            guard all.count <= limit else {
                throw ToolFailure(.file, "\(name) is larger than the limit of \(limit) bytes")
            }
        }
        return all
    }

    /// Starts to read as ``chunks(onEnd:)`` does, and returns the lines.
    /// - Parameter limit: The length of the longest line, in bytes.
    func lines(limit: Int, onEnd: @escaping @Sendable () -> Void = {}) -> Lines {
        Lines(chunks: chunks(onEnd: onEnd), limit: limit)
    }

    /// The lines, in order, as ``LineSplitter`` makes them.
    struct Lines: AsyncSequence {
        fileprivate let chunks: Chunks
        fileprivate let limit: Int

        func makeAsyncIterator() -> Iterator {
            Iterator(chunks: chunks.makeAsyncIterator(), splitter: LineSplitter(limit: limit))
        }

        struct Iterator: AsyncIteratorProtocol {
            fileprivate var chunks: Chunks.Iterator
            fileprivate var splitter: LineSplitter
            private var lines: ArraySlice<LineSplitter.Line> = []
            private var isOver = false

            fileprivate init(chunks: Chunks.Iterator, splitter: LineSplitter) {
                (self.chunks, self.splitter) = (chunks, splitter)
            }

            mutating func next() async throws -> LineSplitter.Line? {
                while lines.isEmpty, !isOver {
                    if let chunk = try await chunks.next() {
                        lines = splitter.lines(in: chunk)[...]
                    } else {
                        isOver = true
                        // A cancelled task ends the source too: what is left may be the start of a line.
                        try Task.checkCancellation()
                        if let last = splitter.last() { lines = [last] }
                    }
                }
                return lines.popFirst()
            }
        }
    }

    /// The chunks, in order. None of them is empty.
    struct Chunks: AsyncSequence {
        fileprivate let stream: AsyncThrowingStream<[UInt8], any Error>
        fileprivate let room: DispatchSemaphore

        func makeAsyncIterator() -> Iterator { Iterator(base: stream.makeAsyncIterator(), room: room) }

        struct Iterator: AsyncIteratorProtocol {
            fileprivate var base: AsyncThrowingStream<[UInt8], any Error>.Iterator
            fileprivate let room: DispatchSemaphore

            mutating func next() async throws -> [UInt8]? {
                let chunk = try await base.next()
                room.signal()
                return chunk
            }
        }
    }
}
