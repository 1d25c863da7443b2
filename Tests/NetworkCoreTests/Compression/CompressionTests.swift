import Foundation
import Synchronization
import TestSupport
import Testing

@testable import NetworkCore

@Suite("Packing and unpacking")
struct CompressionTests {
    /// The cut-off body came as a second error.
    @Test func afterAnErrorOnTheWireNothingComes() async throws {
        let decoder = BodyDecoder(DecodingChain([("gzip", Inflater(.gzip))]))
        let start = try Deflater(level: 6).pack(Data(count: 100_000), isLast: true).prefix(50)
        let pieces = Pieces([start])
        while true {
            do {
                guard try await decoder.next(fetch: pieces.next) != nil else { break }
            } catch {
                #expect((error as? NetworkError)?.code == .connectionLost)
                break
            }
        }
        #expect(pieces.hasFailed)
        #expect(try await decoder.next { nil } == nil)
    }

    /// Pieces, and then the connection is lost.
    private final class Pieces: Sendable {
        private let rest: Guarded<[Data]>

        init(_ pieces: [Data]) { rest = Guarded(pieces) }

        private let failures = Guarded(0)
        var hasFailed: Bool { failures.withLock { $0 == 1 } }

        func next() throws -> Data? {
            if let piece = rest.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return piece }
            failures.withLock { $0 += 1 }
            throw NetworkError(.connectionLost, "it is gone", phase: .receiving)
        }
    }

    /// Its memory was freed twice.
    @Test func aDeflaterThatCanNotBeStartedIsAnError() {
        for _ in 0..<100 {
            #expect(throws: NetworkError.self) { try Deflater(level: 99) }
        }
    }
}
