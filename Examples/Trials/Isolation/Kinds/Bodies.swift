import Foundation
import NetworkLayer

/// Bodies to send, always with the same bytes.
enum Bodies {
    static func bytes(_ count: Int) -> Data { Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }) }

    static let large = bytes(1_500_000)
    static let medium = bytes(20_000)

    static func chunks(_ sizes: [Int]) -> AsyncStream<Data> {
        AsyncStream { stream in
            for size in sizes { stream.yield(bytes(size)) }
            stream.finish()
        }
    }

    /// A stream that fails after some bytes.
    static var failing: AsyncThrowingStream<Data, any Error> {
        AsyncThrowingStream { stream in
            stream.yield(bytes(100))
            stream.finish(throwing: PeerFailure("the caller's stream broke"))
        }
    }
}

extension Kind {
    /// Requests with bodies of every form.
    static let bodies: [Kind] = [
        Kind("post-none", .post),
        Kind("post-empty", .post) { $1.body = .bytes(Data()) },
        Kind("post-small", .post) { $1.body = .bytes(Data("amount=100".utf8)) },
        Kind("post-small-two", at: .two, .post) { $1.body = .bytes(Data("amount=200".utf8)) },
        Kind("post-medium", .post) { $1.body = .bytes(Bodies.medium) },
        Kind("post-large", .post) { $1.body = .bytes(Bodies.large) },
        Kind("put-small", .put) { $1.body = .bytes(Data("a thing".utf8)) },
        Kind("patch-small", .patch) { $1.body = .bytes(Data("a change".utf8)) },
        Kind("delete-body", .delete) { $1.body = .bytes(Data("why".utf8)) },
        Kind("get-body", .get) { $1.body = .bytes(Data("a query".utf8)) },
        Kind("stream-known", .post) { $1.body = .stream(Bodies.chunks([10, 5_000, 90]), length: 5_100) },
        Kind("stream-unknown", .post) { $1.body = .stream(Bodies.chunks([10, 5_000, 90])) },
        Kind("stream-empty", .post) { $1.body = .stream(Bodies.chunks([])) },
        Kind("stream-large", .put) { $1.body = .stream(Bodies.chunks(Array(repeating: 50_000, count: 20))) },
        Kind("stream-short", .post) { $1.body = .stream(Bodies.chunks([10]), length: 50) },
        Kind("stream-failing", .post) { $1.body = .stream(Bodies.failing) },
        Kind("replay-known", .post) { $1.body = .replayableStream(length: 300) { Bodies.chunks([100, 200]) } },
        Kind("replay-unknown", .post) { $1.body = .replayableStream { Bodies.chunks([100, 200]) } },
        Kind("replay-two", at: .two, .put) { $1.body = .replayableStream { Bodies.chunks([70]) } },
        Kind("gzip-bytes", .post) {
            $1.body = .bytes(Bodies.medium)
            $1.options.requestCompression = .gzip
        },
        Kind("gzip-stream", .post) {
            $1.body = .stream(Bodies.chunks([3_000, 3_000]))
            $1.options.requestCompression = .gzip(level: 1)
        },
        Kind("expect", .post) {
            $1.body = .bytes(Bodies.medium)
            $1.headerFields[.expect] = "100-continue"
        },
        Kind("expect-stream", .put) {
            $1.body = .replayableStream { Bodies.chunks([500]) }
            $1.headerFields[.expect] = "100-continue"
        },
    ]
}
