import CLibrary
import Dispatch
public import FoundationEssentials
import HTTPTypes
import Synchronization

// For transports and interceptors that need to read the body to send.

extension TransportRequest.Body {
    private static let pieceBytes = 65_536

    /// The bytes, if they are in memory; `nil` for a body that is produced while it is read.
    public var bytes: Data? { knownBytes }

    /// Reads the body from its start, chunk by chunk.
    ///
    /// A body that can't be sent again (``isReplayable``) can be read only once, and is then no longer available to the
    /// transport.
    /// - Parameter receive: Called with each chunk in order, never with an empty one. The next chunk is produced when
    ///   it returns.
    /// - Throws: The errors of `receive` and of the body's producer; ``NetworkError/Code/bodyAlreadyRead``.
    public func read(_ receive: @Sendable (Data) async throws -> Void) async throws {
        switch content {
        case .produced(let producer):
            try await producer.run(receive)
        case .bytes(let bytes):
            var rest = bytes
            while !rest.isEmpty {
                try await receive(rest.prefix(Self.pieceBytes))
                rest = rest.dropFirst(Self.pieceBytes)
            }
        }
    }

    /// Returns the whole body, in memory.
    /// - Parameter limit: The maximum number of bytes to accept.
    /// - Throws: ``NetworkError/Code/bodyTooLarge`` above the limit; ``NetworkError/Code/bodyLengthMismatch`` for a
    ///   stream that is shorter or longer than its ``length``; the errors of ``read(_:)``.
    public func collect(upTo limit: Int) async throws -> Data {
        let collector = BodyCollector(self, limit: limit)
        if let bytes { try collector.append(bytes) } else { try await read { try collector.append($0) } }
        return try collector.finish()
    }

    /// Returns the same body with a closure that receives its progress: the number of bytes passed to the transport.
    ///
    /// The transport holds at most a few hundred kilobytes of the body, so the progress is close to what was sent. A
    /// body that has to be sent again starts at 0 again. The result is a streamed body: over a transport without
    /// ``TransportCapabilities/Capability/streamedRequestBodies``, the progress is that of collecting it.
    /// - Parameter report: Called after each chunk, on any thread. It must return soon, because the upload waits for
    ///   it.
    public func reportingProgress(_ report: @escaping @Sendable (TransferProgress) -> Void) -> TransportRequest.Body {
        let length = length
        return witnessed {
            let sent = Guarded(0)
            report(TransferProgress(completed: 0, total: length))
            return { piece in
                let completed = sent.withLock { sent in
                    sent += piece.count
                    return sent
                }
                report(TransferProgress(completed: completed, total: length))
            }
        }
    }

    /// Returns the same body, streamed, with a witness of what the transport takes.
    package func witnessed(
        _ begin: @escaping @Sendable () -> (@Sendable (Data) -> Void)
    ) -> TransportRequest.Body {
        let body = self
        var trailers: (@Sendable () async throws -> HTTPFields)?
        if case .produced(let producer) = content { trailers = producer.trailers }
        return TransportRequest.Body(
            content: .produced(
                BodyProducer(length: length, isReplayable: isReplayable, trailers: trailers) { deliver in
                    let see = begin()
                    try await body.read { piece in
                        try await deliver(piece)
                        see(piece)
                    }
                }
            )
        )
    }
}

final class BodyCollector: Sendable {
    private let collected = Guarded(Data())
    private let limit: Int
    private let length: Int?

    init(_ body: TransportRequest.Body, limit: Int) { (self.limit, length) = (limit, body.length) }

    func append(_ piece: Data) throws {
        let count = collected.withLock { bytes in
            bytes.append(piece)
            return bytes.count
        }
        guard count > limit else { return }
        throw NetworkError.refused(
            .bodyTooLarge,
            "the request's body is larger than the \(limit) bytes that are collected in memory (maximumBodyBytes)")
    }

    func finish() throws -> Data {
        let body = collected.withLock { $0 }
        guard let length, length != body.count else { return body }
        throw NetworkError.bodyLengthMismatch(expected: length, got: "\(body.count)")
    }
}

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

extension TransportRequest.Body {
    /// Returns the body compressed with gzip: bytes at once, a stream each time it is sent.
    /// - Parameter check: Throws when there is no time left. Called for bytes only: a stream's task is cancelled with
    ///   its exchange.
    func gzipped(level: Int, check: () throws -> Void = {}) throws -> TransportRequest.Body {
        switch content {
        case .bytes(let bytes): .bytes(try Deflater(level: level).pack(bytes, isLast: true, check: check))
        case .produced(let producer):
            TransportRequest.Body(
                content: .produced(
                    BodyProducer(length: nil, isReplayable: producer.isReplayable, trailers: producer.trailers) {
                        deliver in
                        try await Self.gzip(producer, level: level, deliver)
                    }))
        }
    }

    private static func gzip(
        _ producer: BodyProducer, level: Int, _ deliver: @Sendable (Data) async throws -> Void
    ) async throws {
        let deflater = Guarded(try Deflater(level: level))
        let length = Atomic(0)
        try await producer.run { chunk in
            length.add(chunk.count, ordering: .relaxed)
            // The producer may wait for a response to a chunk, so each leaves as a whole.
            try await deliver(
                try deflater.withLock {
                    try $0.pack(chunk, isLast: false, flushes: true, check: Task.checkCancellation)
                })
        }
        // The transport sees only the compressed bytes, so the length is checked here.
        let count = length.load(ordering: .relaxed)
        if let expected = producer.length, expected != count {
            throw NetworkError.bodyLengthMismatch(expected: expected, got: "\(count)")
        }
        try await deliver(try deflater.withLock { try $0.pack(Data(), isLast: true) })
    }
}
