public import FoundationEssentials
public import HTTPTypes
import Synchronization

extension TransportRequest {
    /// The body of a request: bytes, a file, or a sequence that is read while it is sent.
    ///
    /// A body has no Content-Type of its own: its encoder sets the header field.
    ///
    /// A body may have to be sent again, for example when a kept connection turns out to be closed. Bytes, files and a
    /// ``replayableStream(length:_:)`` can be sent again. A ``stream(_:length:)`` can't after its first chunk was read;
    /// the request then fails with ``NetworkError/Code/connectionLost``.
    ///
    /// A server may respond before it has read the whole body, and both sides may speak in turns: each chunk leaves as
    /// soon as it is produced. Over curl, a response that is over before its request's body ends for its reader at
    /// once. The rest of the body is then sent for one more second, as it is after the response's body has been
    /// released with at most 64 KiB left; of a response of unknown length, as long as no more than 64 KiB of it come
    /// meanwhile. Then the stream's reading is cancelled, and the connection is closed, or the stream of HTTP/2 is.
    /// Two such ends wait for that of the request's body: over HTTP/2 that of a 2xx without Content-Length, unless the
    /// server resets the stream ([RFC 9113 §8.1](https://www.rfc-editor.org/rfc/rfc9113#section-8.1)), and with a
    /// ``TransportOptions/rate`` any without Content-Length.
    public struct Body: Sendable, SafelyPrinted {
        package enum Content: Sendable {
            case bytes(Data)
            case produced(BodyProducer)
        }

        package let content: Content

        /// A body of known bytes, sent with Content-Length.
        public static func bytes(_ bytes: Data) -> Body {
            Body(content: .bytes(bytes))
        }

        /// A sequence of chunks that is read once, as fast as the server accepts them.
        ///
        /// An error that the sequence throws ends the exchange and is rethrown to the caller unchanged.
        ///
        /// A server that responds before it has read the body may end the sequence early; see
        /// ``TransportRequest/Body``.
        /// - Parameters:
        ///   - chunks: The body's bytes. Empty chunks are skipped.
        ///   - length: The total number of bytes, if known. It is sent as Content-Length; a sequence with fewer or more
        ///     bytes fails the exchange with ``NetworkError/Code/bodyLengthMismatch``. The last bytes, at most 16 KiB,
        ///     are sent once the sequence has ended, so that the sequence must not wait for the response before its
        ///     end. Without a length, the body is sent in chunked encoding over HTTP/1.1, and refused with
        ///     ``NetworkError/Code/unsupported`` over HTTP/1.0.
        public static func stream<Chunks: AsyncSequence & Sendable>(
            _ chunks: Chunks,
            length: Int? = nil
        ) -> Body where Chunks.Element == Data {
            let isTaken = OneTimeFlag()
            return Body(
                content: .produced(
                    BodyProducer(length: length, isReplayable: false) { deliver in
                        guard isTaken.raise() else { throw NetworkError.bodyAlreadyRead }
                        for try await chunk in chunks { try await deliver(chunk) }
                    }
                )
            )
        }

        /// A sequence of chunks that is created anew each time the body is sent.
        ///
        /// When a body is sent again, the reading before is cancelled, also one that goes on after its response has
        /// ended, and `make` is called once that reading has ended: the sequences may rewind and read one source. A
        /// sequence that does not end when its task is cancelled holds up the body, within the timeouts. Two requests
        /// that send one body at the same time read two sequences at the same time.
        /// - Parameters:
        ///   - length: The total number of bytes, as with ``stream(_:length:)``.
        ///   - make: Creates the sequence. Called once each time the body is sent.
        public static func replayableStream<Chunks: AsyncSequence & Sendable>(
            length: Int? = nil,
            _ make: @escaping @Sendable () async throws -> Chunks
        ) -> Body where Chunks.Element == Data {
            let runs = StreamRuns()
            return Body(
                content: .produced(
                    BodyProducer(length: length, isReplayable: true) { deliver in
                        try await runs.run {
                            for try await chunk in try await make() { try await deliver(chunk) }
                        }
                    }
                )
            )
        }

        /// The contents of a file, read in chunks of 64 KiB while they are sent.
        /// - Parameter path: The path of the file. Its length is read now; the file must not change until it is sent.
        /// - Throws: ``NetworkError/Code/unreadableFile`` if the path is not that of a regular, readable file.
        public static func file(_ path: String) throws -> Body {
            let file = try BodyFile(path: path)
            return Body(
                content: .produced(
                    BodyProducer(length: file.length, isReplayable: true) { deliver in try await file.read(deliver) }
                )
            )
        }

        /// Returns the same body with trailer fields after it, such as a checksum of what was sent
        /// ([RFC 9110 §6.5](https://www.rfc-editor.org/rfc/rfc9110#section-6.5)). Not supported by the URLSession
        /// transport.
        ///
        /// The body goes out in chunked encoding, whether its length is known or not, and over HTTP/1.1, since libcurl
        /// sends no trailers over other versions: one of those, asked for by name, is
        /// ``NetworkError/Code/unsupported``. Announcing the names in the header field `Trailer` is left to the caller.
        /// Of several calls the last one counts.
        /// [CURLOPT_TRAILERFUNCTION](https://curl.se/libcurl/c/CURLOPT_TRAILERFUNCTION.html)
        /// - Parameter trailers: Computes the fields, once each time the body is sent, when it has been produced. None
        ///   are sent if it returns none. An error that it throws ends the exchange and is rethrown unchanged, and so
        ///   does one of ``NetworkError/Code/invalidHeaderField``: for a value that can't be sent, for more than
        ///   ``TransportRequest/maximumHeaderBytes`` together, and for a field that frames, routes or describes the
        ///   message ([RFC 9110 §6.5.1](https://www.rfc-editor.org/rfc/rfc9110#section-6.5.1)), such as
        ///   `Content-Length` or `Authorization`.
        public func followed(byTrailers trailers: @escaping @Sendable () async throws -> HTTPFields) -> Body {
            let body = self
            return Body(
                content: .produced(
                    BodyProducer(length: nil, isReplayable: isReplayable, trailers: trailers) { deliver in
                        guard case .produced(let producer) = body.content else { return try await body.read(deliver) }
                        try await producer.runExactly(deliver)
                    }))
        }

        /// Whether trailer fields may follow the body.
        public var hasTrailers: Bool {
            guard case .produced(let producer) = content else { return false }
            return producer.trailers != nil
        }

        /// Returns the trailer fields, checked; empty if there are none. For authors of transports, who call it once
        /// each time after ``read(_:)`` has ended.
        /// - Throws: The error of the closure that computes them; ``NetworkError/Code/invalidHeaderField``.
        public func trailers() async throws -> HTTPFields {
            guard case .produced(let producer) = content else { return [:] }
            return try await producer.checkedTrailers()
        }

        /// The bytes, if the body was made from bytes; `nil` for a file and for a stream.
        public var knownBytes: Data? {
            guard case .bytes(let bytes) = content else { return nil }
            return bytes
        }

        /// Whether the body can be sent more than once; `false` for ``stream(_:length:)`` and for a body made from one.
        public var isReplayable: Bool {
            switch content {
            case .bytes: true
            case .produced(let producer): producer.isReplayable
            }
        }

        /// The length in bytes, if it is known before the body is sent.
        public var length: Int? {
            switch content {
            case .bytes(let bytes): bytes.count
            case .produced(let producer): producer.length
            }
        }

        /// The length of the body.
        public var description: String {
            length.map { "a body of \($0) bytes" } ?? "a body of unknown length"
        }
    }
}

package struct BodyProducer: Sendable, SafelyPrinted {
    package let length: Int?
    package let isReplayable: Bool
    /// Computes the fields after the body.
    let trailers: (@Sendable () async throws -> HTTPFields)?
    private let produce: @Sendable (_ deliver: @Sendable (Data) async throws -> Void) async throws -> Void

    package init(
        length: Int?, isReplayable: Bool, trailers: (@Sendable () async throws -> HTTPFields)? = nil,
        _ produce: @escaping @Sendable (_ deliver: @Sendable (Data) async throws -> Void) async throws -> Void
    ) {
        (self.length, self.isReplayable, self.trailers, self.produce) = (length, isReplayable, trailers, produce)
    }

    package var hasTrailers: Bool { trailers != nil }

    /// Returns the fields after the body, which has been produced.
    package func checkedTrailers() async throws -> HTTPFields {
        guard let fields = try await trailers?() else { return [:] }
        try fields.checkAsTrailers()
        return fields
    }

    /// Passes each chunk but empty ones to the closure, which returns when there is room for the next one.
    package func run(_ deliver: @Sendable (Data) async throws -> Void) async throws {
        try await produce { chunk in
            // The end of the exchange stops a producer of empty chunks here, and nowhere else.
            if chunk.isEmpty { try Task.checkCancellation() } else { try await deliver(chunk) }
        }
    }

    /// Does the same, and checks that there are as many bytes as the length says: for a part of a body, whose whole
    /// length says nothing of this one's.
    func runExactly(_ deliver: @Sendable (Data) async throws -> Void) async throws {
        guard let length else { return try await run(deliver) }
        let delivered = Atomic(0)
        try await run { chunk in
            let (count, _) = delivered.add(chunk.count, ordering: .relaxed)
            guard count + chunk.count <= length else {
                throw NetworkError.bodyLengthMismatch(expected: length, got: "more")
            }
            try await deliver(chunk)
        }
        let count = delivered.load(ordering: .relaxed)
        guard count == length else { throw NetworkError.bodyLengthMismatch(expected: length, got: "\(count)") }
    }
}

extension NetworkError {
    package static var bodyAlreadyRead: NetworkError {
        NetworkError(
            .bodyAlreadyRead,
            "the request's body is a stream that can be read once, and it has been read; make a new one for each "
                + "request, or one that can be made anew (.replayableStream)",
            phase: .waiting)
    }

    package static func bodyLengthMismatch(expected: Int, got: String) -> NetworkError {
        NetworkError(
            .bodyLengthMismatch,
            "the request's body has \(got) bytes where its length says \(expected)",
            phase: .waiting
        )
    }
}
