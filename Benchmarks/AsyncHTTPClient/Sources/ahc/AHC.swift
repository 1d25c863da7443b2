import AsyncHTTPClient
import Bench
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOSSL

/// The contender that sends with AsyncHTTPClient.
struct AHC: Contender {
    private let client: HTTPClient
    private let request: HTTPClientRequest
    private let uploadBytes: Int
    private let pollURL: String

    init(_ arguments: Arguments) throws {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = max(128, arguments.connections)
        configuration.decompression = .enabled(limit: .none)
        configuration.httpVersion = arguments.usesHTTP2 ? .automatic : .http1Only
        if let authority = arguments.authority {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .file(authority)
            configuration.tlsConfiguration = tls
        }
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        request = HTTPClientRequest(url: arguments.url)
        uploadBytes = arguments.bytes
        pollURL = arguments.pollURL
    }

    func get() async throws -> Int { try await answer(to: request).readableBytes }

    func stream() async throws -> Int {
        var count = 0
        for try await chunk in try await execute(request).body { count += chunk.readableBytes }
        return count
    }

    func post() async throws {
        var request = request
        request.method = .POST
        request.body = .bytes(Self.piece)
        _ = try await answer(to: request)
    }

    func upload() async throws {
        var request = request
        request.method = .POST
        request.body = .stream(Pieces(bytes: uploadBytes), length: .known(Int64(uploadBytes)))
        _ = try await answer(to: request)
    }

    func decode() async throws -> Int {
        let body = try await answer(to: request)
        let items = try JSONDecoder().decode([Item].self, from: body)
        guard items.first?.id == 1 else { throw WrongAnswer("the first item is wrong") }
        return body.readableBytes
    }

    func poll() async throws { _ = try await answer(to: HTTPClientRequest(url: pollURL)) }

    private func answer(to request: HTTPClientRequest) async throws -> ByteBuffer {
        try await execute(request).body.collect(upTo: 1 << 30)
    }

    private func execute(_ request: HTTPClientRequest) async throws -> HTTPClientResponse {
        let response = try await client.execute(request, timeout: .hours(1))
        guard response.status == .ok else { throw WrongAnswer("status \(response.status)") }
        return response
    }

    static let piece = ByteBuffer(repeating: UInt8(ascii: "a"), count: pieceBytes)
}

/// The chunks of a streamed body.
struct Pieces: AsyncSequence, Sendable {
    let bytes: Int

    struct AsyncIterator: AsyncIteratorProtocol {
        var left: Int

        mutating func next() async -> ByteBuffer? {
            guard left > 0 else { return nil }
            let count = Swift.min(left, pieceBytes)
            left -= count
            return count == pieceBytes ? AHC.piece : AHC.piece.getSlice(at: 0, length: count)
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(left: bytes) }
}

@main
enum Program {
    static func main() async { await Run.main(AHC.self) }
}
