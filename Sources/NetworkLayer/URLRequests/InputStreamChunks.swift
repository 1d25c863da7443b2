package import Foundation
import NetworkCore
import Synchronization

/// The bytes of an `InputStream` as chunks. The stream blocks, so it is read on a thread of its own.
///
/// A blocked read can't be interrupted. A cancelled task does not wait for it; the thread does, until the stream has
/// bytes or ends. Queues of libdispatch would share their threads with the whole process, which stops when all of them
/// are blocked; the number of these threads is limited.
///
/// All copies of a `URLRequest`, and all descriptions made of one, have the same stream, which can be read once. The
/// first that reads it has it; others fail.
struct InputStreamChunks: AsyncSequence, Sendable {
    typealias Element = Data

    private let source: Source

    init(_ stream: InputStream) { source = Source(stream) }

    func makeAsyncIterator() -> Iterator { Iterator(source: source) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let source: Source

        mutating func next() async throws -> Data? { try await source.next() }
    }

    /// @unchecked: only the thread uses the stream.
    fileprivate final class Source: @unchecked Sendable {
        private static let pieceBytes = 65_536
        private let stream: InputStream
        private let state = Guarded(State())

        private struct State {
            var thread: StreamThread?
            /// What the source has from now on: its end, or why it has none.
            var end: Result<Data?, any Error>?
        }

        /// Whether the stream is this source's own to read.
        private var isClaimed = false

        init(_ stream: InputStream) { self.stream = stream }

        deinit {
            state.withLock { $0.thread?.end() }
            if isClaimed { stream.close() }
        }

        func next() async throws -> Data? {
            let (thread, end) = try state.withLock { state in
                if state.end == nil, state.thread == nil { state.thread = try StreamThread() }
                return (state.thread, state.end)
            }
            guard let thread else { return try end?.get() }
            let piece = FirstOutcome<Data?>()
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    piece.attach(continuation)
                    thread.perform {
                        let read = Result { try self.read() }
                        if case .success(.some) = read {} else { self.leaveThread(read) }
                        piece.finish(read)
                    }
                }
            } onCancel: {
                // The thread may read on, so nothing else may.
                leaveThread(.failure(NetworkError.cancelled))
                piece.finish(.failure(NetworkError.cancelled))
            }
        }

        /// Ends the thread after the read that it does: a description of the request may be kept for long.
        private func leaveThread(_ end: Result<Data?, any Error>) {
            let thread = state.withLock { state in
                defer { state.thread = nil }
                state.end = state.end ?? end
                return state.thread
            }
            thread?.end()
        }

        private func read() throws -> Data? {
            if !isClaimed {
                guard ReadStreams.claim(stream) else { throw NetworkError.bodyAlreadyRead }
                isClaimed = true
                if stream.streamStatus == .notOpen { stream.open() }
            }
            var piece = [UInt8](repeating: 0, count: Self.pieceBytes)
            let count = stream.read(into: &piece)
            if count > 0 { return Data(piece.prefix(count)) }
            if count == 0 { return nil }
            throw NetworkError(
                .unreadableFile,
                "the stream of the request's body can't be read",
                phase: .waiting,
                underlying: failure
            )
        }

        /// The stream's error. Without one, Foundation crashes the process that asks for it.
        private var failure: NetworkError.Underlying? {
            guard stream.streamStatus == .error, let error = stream.streamError as NSError? else { return nil }
            return .init(domain: error.domain, code: error.code, message: error.localizedDescription)
        }
    }
}

/// A thread that reads one stream, and may be blocked for as long as the stream is silent.
package final class StreamThread: Sendable {
    /// The limit on these threads, blocked ones included.
    package static let maximum = 256
    private static let count = Guarded(0)

    private let orders = DispatchSemaphore(value: 0)
    /// The next work; `nil` after an order is the end.
    private let next = Guarded<(@Sendable () -> Void)?>(nil)

    /// - Parameter limit: The number of threads, of all streams, from which there is none more.
    /// - Throws: ``NetworkError/Code/overloaded`` at the limit.
    package init(limit: Int = maximum) throws {
        let isAllowed = Self.count.withLock { count in
            guard count < limit else { return false }
            count += 1
            return true
        }
        guard isAllowed else {
            throw NetworkError(
                .overloaded,
                "\(limit) request bodies are read from an InputStream already, each on a thread that waits for it",
                phase: .waiting)
        }
        let thread = Thread { [self] in
            while true {
                orders.wait()
                let work = next.withLock { next in
                    defer { next = nil }
                    return next
                }
                guard let work else { break }
                work()
            }
            Self.count.withLock { $0 -= 1 }
        }
        thread.name = "NetworkLayer.InputStream"
        thread.start()
    }

    /// Does work on the thread. The work before has ended.
    package func perform(_ work: @escaping @Sendable () -> Void) {
        next.withLock { $0 = work }
        orders.signal()
    }

    /// Ends the thread, after the work that it does.
    package func end() { orders.signal() }
}

/// The streams that have been read, over the whole process.
package enum ReadStreams {
    /// @unchecked: the stream is only compared with `nil`, and nothing reads it here.
    private struct Entry: @unchecked Sendable {
        weak var stream: InputStream?
    }

    private static let entries = Guarded<[ObjectIdentifier: Entry]>([:])

    /// The number of remembered streams, with some that are gone.
    package static var count: Int { entries.withLock(\.count) }

    /// Claims a stream for its one reader.
    /// - Returns: Whether nothing has claimed it before.
    package static func claim(_ stream: InputStream) -> Bool {
        let entry = Entry(stream: stream)
        let id = ObjectIdentifier(stream)
        return entries.withLock { entries in
            // A new stream may have the identifier of one that is gone.
            if entries[id]?.stream != nil { return false }
            if entries.count >= 64, entries.count.nonzeroBitCount == 1 {
                entries = entries.filter { $0.value.stream != nil }
            }
            entries[id] = entry
            return true
        }
    }
}
