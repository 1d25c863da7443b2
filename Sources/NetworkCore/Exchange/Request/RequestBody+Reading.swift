public import FoundationEssentials
import Synchronization

// For transports and interceptors, which have to see what goes out.

extension TransportRequest.Body {
    private static let pieceBytes = 65_536

    /// The bytes, where they are in memory already; `nil` for a body that is produced while it is read.
    public var bytes: Data? { knownBytes }

    /// Reads the body from its start, piece by piece.
    ///
    /// A body that can't be sent again (``isReplayable``) can be read once, and reading it takes it from the transport.
    /// - Parameter receive: Called with each piece, never empty and in order; the next piece is produced when it
    ///   returns.
    /// - Throws: What `receive` throws; the error of the body's producer; ``NetworkError/Code/connectionLost`` for a
    ///   one-time stream that was read before.
    public func read(_ receive: @Sendable (Data) async throws -> Void) async throws {
        switch content {
        case .produced(let producer):
            try await producer.run { piece in
                if !piece.isEmpty { try await receive(piece) }
            }
        case .bytes(let bytes):
            var rest = bytes
            while !rest.isEmpty {
                try await receive(rest.prefix(Self.pieceBytes))
                rest = rest.dropFirst(Self.pieceBytes)
            }
        }
    }

    /// The whole body, in memory.
    /// - Parameter limit: The most bytes to accept.
    /// - Throws: ``NetworkError/Code/bodyTooLarge`` above the limit; ``NetworkError/Code/bodyLengthMismatch`` for a
    ///   stream that is shorter or longer than its ``length``; what ``read(_:)`` throws.
    public func collect(upTo limit: Int) async throws -> Data {
        let collected = Guarded(bytes ?? Data())
        if bytes == nil {
            try await read { piece in
                let count = collected.withLock { bytes in
                    bytes.append(piece)
                    return bytes.count
                }
                if count > limit { throw NetworkError.requestBodyTooLarge(limit: limit) }
            }
        }
        let body = collected.withLock { $0 }
        guard body.count <= limit else { throw NetworkError.requestBodyTooLarge(limit: limit) }
        if let length, length != body.count {
            throw NetworkError.bodyLengthMismatch(expected: length, got: "\(body.count)")
        }
        return body
    }
}

extension NetworkError {
    fileprivate static func requestBodyTooLarge(limit: Int) -> NetworkError {
        NetworkError(
            .bodyTooLarge,
            "the request's body is larger than the \(limit) bytes that are collected in memory (maximumBodyBytes)",
            phase: .preparing
        )
    }
}
