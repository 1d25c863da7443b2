import FoundationEssentials
import Synchronization

extension TransportRequest.Body {
    /// Returns the body compressed with gzip: bytes at once, a stream each time it is sent.
    func gzipped(
        level: Int, isDeterministic: Bool = false, check: () throws -> Void = {}
    ) throws -> TransportRequest.Body {
        switch content {
        case .bytes(let bytes): .bytes(try Deflater(level: level).pack(bytes, isLast: true, check: check))
        case .produced(let producer):
            TransportRequest.Body(
                content: .produced(
                    BodyProducer(length: nil, isReplayable: producer.isReplayable) { deliver in
                        try await Self.gzip(producer, level: level, isDeterministic: isDeterministic, deliver)
                    }))
        }
    }

    private static func gzip(
        _ producer: BodyProducer, level: Int, isDeterministic: Bool, _ deliver: @Sendable (Data) async throws -> Void
    ) async throws {
        // The producer may wait for a response to a chunk, so each leaves as a whole unless the borders must not show.
        let packing = try Packing(level: level, flushes: !isDeterministic)
        try await producer.run { chunk in
            let packed = try packing.pack(chunk, isLast: false)
            if !packed.isEmpty { try await deliver(packed) }
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
            /// What is not yet a whole block, of a container without flushes: zlib does not promise that the borders of
            /// its input leave no trace.
            var rest = Data()
        }

        private static let blockBytes = 65_536
        private let flushes: Bool
        private let state: Guarded<State>

        init(level: Int, flushes: Bool) throws {
            self.flushes = flushes
            state = Guarded(State(deflater: try Deflater(level: level)))
        }

        func pack(_ bytes: Data, isLast: Bool) throws -> Data {
            try state.withLock { state in
                state.count += bytes.count
                if flushes {
                    return try state.deflater.pack(bytes, isLast: isLast, flushes: true, check: Task.checkCancellation)
                }
                state.rest += bytes
                let whole = isLast ? state.rest.count : state.rest.count / Self.blockBytes * Self.blockBytes
                guard whole > 0 || isLast else { return Data() }
                let packed = try state.deflater.pack(
                    state.rest.prefix(whole), isLast: isLast, check: Task.checkCancellation)
                state.rest = Data(state.rest.dropFirst(whole))
                return packed
            }
        }

        /// The number of bytes that went in.
        var count: Int { state.withLock { $0.count } }
    }
}
