import FoundationEssentials
import Synchronization

extension TransportRequest.Body {
    /// Returns the body compressed with gzip: bytes at once, a stream each time it is sent.
    /// - Parameters:
    ///   - level: The level of gzip, from 1 to 9.
    ///   - check: Throws when there is no time left. Called for bytes only: a stream's task is cancelled with its
    ///     exchange.
    func gzipped(level: Int, check: () throws -> Void = {}) throws -> TransportRequest.Body {
        switch content {
        case .bytes(let bytes): .bytes(try Deflater(level: level).pack(bytes, isLast: true, check: check))
        case .produced(let producer):
            TransportRequest.Body(
                content: .produced(
                    BodyProducer(length: nil, isReplayable: producer.isReplayable) { deliver in
                        try await Self.gzip(producer, level: level, deliver)
                    }))
        }
    }

    private static func gzip(
        _ producer: BodyProducer, level: Int, _ deliver: @Sendable (Data) async throws -> Void
    ) async throws {
        let packing = try Packing(level: level)
        try await producer.run { chunk in
            // The producer may wait for a response to this chunk, so the chunk leaves as a whole.
            try await deliver(try packing.pack(chunk, isLast: false))
        }
        // The transport sees only the compressed bytes, so the length is checked here.
        if let length = producer.length, length != packing.count {
            throw NetworkError.bodyLengthMismatch(expected: length, got: "\(packing.count)")
        }
        try await deliver(try packing.pack(Data(), isLast: true))
    }

    /// The gzip container for a stream.
    private final class Packing: Sendable {
        private struct State: ~Copyable {
            let deflater: Deflater
            var count = 0
        }

        private let state: Guarded<State>

        init(level: Int) throws { state = Guarded(State(deflater: try Deflater(level: level))) }

        func pack(_ bytes: Data, isLast: Bool) throws -> Data {
            try state.withLock { state in
                state.count += bytes.count
                return try state.deflater.pack(bytes, isLast: isLast, flushes: true, check: Task.checkCancellation)
            }
        }

        /// The number of bytes that went in.
        var count: Int { state.withLock { $0.count } }
    }
}
