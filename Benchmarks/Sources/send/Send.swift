import Bench
import CurlBench
import CurlTransport
import FoundationEssentials
import NetworkCore

/// The contender that uses only the transport over libcurl: `send` and the collected body.
struct Send: Contender {
    private let dispatcher: CurlNetworkDispatcher
    private let request: TransportRequest
    private let uploadBytes: Int
    private let pollURL: String
    private let runsOnLoop: Bool

    var executor: (any TaskExecutor)? { get throws { runsOnLoop ? try dispatcher.loopExecutor() : nil } }

    init(_ arguments: Arguments) throws {
        dispatcher = CurlNetworkDispatcher(configuration: .benchmark(arguments))
        request = TransportRequest(url: try RequestURL(arguments.url), options: try .benchmark(arguments))
        uploadBytes = arguments.bytes
        pollURL = arguments.pollURL
        runsOnLoop = arguments.runsOnLoop
    }

    func get() async throws -> Int { try await answer(to: request) }

    func stream() async throws -> Int {
        var count = 0
        for try await chunk in try await dispatcher.send(request).body { count += chunk.count }
        return count
    }

    func post() async throws {
        var request = request
        request.method = .post
        request.body = .bytes(Piece.bytes)
        _ = try await answer(to: request)
    }

    func upload() async throws {
        var request = request
        request.method = .post
        request.body = .stream(Pieces(bytes: uploadBytes), length: uploadBytes)
        _ = try await answer(to: request)
    }

    func poll() async throws {
        var request = TransportRequest(url: try RequestURL(pollURL))
        request.options.idleTimeout = nil
        _ = try await answer(to: request)
    }

    private func answer(to request: TransportRequest) async throws -> Int {
        let response = try await dispatcher.send(request)
        guard response.status.code == 200 else { throw WrongAnswer("status \(response.status)") }
        return try await response.body.collect().count
    }
}

/// The bytes of a posted body.
enum Piece {
    static let bytes = Data(repeating: UInt8(ascii: "a"), count: pieceBytes)
}

/// The chunks of a streamed body.
struct Pieces: AsyncSequence, Sendable {
    let bytes: Int

    struct AsyncIterator: AsyncIteratorProtocol {
        var left: Int

        mutating func next() async -> Data? {
            guard left > 0 else { return nil }
            let count = Swift.min(left, pieceBytes)
            left -= count
            return count == pieceBytes ? Piece.bytes : Piece.bytes.prefix(count)
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(left: bytes) }
}

@main
enum Program {
    static func main() async { await Run.main(Send.self) }
}
