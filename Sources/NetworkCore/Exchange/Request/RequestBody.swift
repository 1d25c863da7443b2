public import FoundationEssentials

extension TransportRequest {
    /// What a request carries to the server: bytes, a file, or a sequence that is read while it is sent.
    ///
    /// A body has no Content-Type of its own: its encoder sets the header field.
    ///
    /// A body may have to be sent again, when a kept-alive connection turns out to be closed for example. Bytes, files
    /// and ``replayableStream(length:_:)`` can be; a ``stream(_:length:)`` can't once its first chunk was taken, and
    /// such a request then fails with ``NetworkError/Code/connectionLost``.
    public struct Body: Sendable {
        package enum Content: Sendable {
            case bytes(Data)
            case produced(BodyProducer)
        }

        package let content: Content

        /// A body of known bytes, sent with their Content-Length.
        public static func bytes(_ bytes: Data) -> Body {
            Body(content: .bytes(bytes))
        }

        /// A sequence of chunks, read as fast as the server takes them, once.
        ///
        /// An error that it throws ends the exchange and is thrown to the caller as it is.
        ///
        /// The server may respond before it has read the whole body. Over curl, a response that is read chunk by chunk
        /// then ends where its Content-Length says; a response without one, and one that is collected, ends when the
        /// request's body has ended too. Dropping the response's body ends both.
        /// - Parameters:
        ///   - chunks: The body's bytes; empty chunks are skipped.
        ///   - length: The sum of their bytes, if known: sent as Content-Length, and a sequence that yields less or
        ///     more fails the exchange with ``NetworkError/Code/bodyLengthMismatch``. Without it the body is sent in
        ///     chunked encoding over HTTP/1.1, and is `unsupported` with HTTP/1.0.
        public static func stream<Chunks: AsyncSequence & Sendable>(
            _ chunks: Chunks,
            length: Int? = nil
        ) -> Body where Chunks.Element == Data {
            let isTaken = OneTimeFlag()
            return Body(
                content: .produced(
                    BodyProducer(length: length, isReplayable: false) { deliver in
                        guard isTaken.raise() else { throw NetworkError.bodyTakenTwice }
                        for try await chunk in chunks { try await deliver(chunk) }
                    }
                )
            )
        }

        /// A sequence of chunks that can be made again, for each time that the body is sent.
        /// - Parameters:
        ///   - length: As with ``stream(_:length:)``.
        ///   - make: Makes the sequence; called once per sending.
        public static func replayableStream<Chunks: AsyncSequence & Sendable>(
            length: Int? = nil,
            _ make: @escaping @Sendable () async throws -> Chunks
        ) -> Body where Chunks.Element == Data {
            Body(
                content: .produced(
                    BodyProducer(length: length, isReplayable: true) { deliver in
                        for try await chunk in try await make() { try await deliver(chunk) }
                    }
                )
            )
        }

        /// A file's contents, read while they are sent, in pieces of 64 KiB.
        /// - Parameter path: The file's path. Its length is taken now; it must not change until it is sent.
        /// - Throws: ``NetworkError/Code/unreadableFile`` when it is no regular file that can be read.
        public static func file(_ path: String) throws -> Body {
            let file = try BodyFile(path: path)
            return Body(
                content: .produced(
                    BodyProducer(length: file.length, isReplayable: true) { deliver in try await file.read(deliver) }
                )
            )
        }

        /// The bytes, if they are here already.
        package var knownBytes: Data? {
            guard case .bytes(let bytes) = content else { return nil }
            return bytes
        }

        /// Whether it can be sent more than once: all but ``stream(_:length:)``.
        public var isReplayable: Bool {
            switch content {
            case .bytes: true
            case .produced(let producer): producer.isReplayable
            }
        }

        /// The length in bytes, if it is known before it is sent.
        public var length: Int? {
            switch content {
            case .bytes(let bytes): bytes.count
            case .produced(let producer): producer.length
            }
        }
    }
}

/// Where a streamed body comes from.
package struct BodyProducer: Sendable {
    /// The sum of all chunks, if known.
    package let length: Int?
    /// Whether ``run`` may be called again from the start.
    package let isReplayable: Bool
    /// Hands every chunk to the closure, which returns when there is room for the next.
    package let run: @Sendable (_ deliver: @Sendable (Data) async throws -> Void) async throws -> Void
}

extension NetworkError {
    fileprivate static var bodyTakenTwice: NetworkError {
        NetworkError(
            .connectionLost, "the request's body is a one-time stream and can't be sent again", phase: .waiting)
    }

    /// The error for a streamed body that is shorter or longer than announced.
    package static func bodyLengthMismatch(expected: Int, got: String) -> NetworkError {
        NetworkError(
            .bodyLengthMismatch,
            "the request's body has \(got) bytes where its length says \(expected)",
            phase: .waiting
        )
    }
}
