#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Takes one content coding off a body, piece by piece.
///
/// Used by one reader at a time, under a lock.
package protocol ContentDecoder: AnyObject {
    /// Decodes the start of `input`.
    /// - Parameters:
    ///   - input: The next bytes; empty to fetch what is still held inside.
    ///   - limit: The most bytes to give back.
    /// - Returns: What came out, and how many bytes of `input` that took.
    /// - Throws: ``NetworkError/Code/invalidContentEncoding`` for damaged bytes.
    func decode(_ input: Data, limit: Int) throws -> (output: Data, consumed: Int)

    /// Whether the coding's own end has been read; what came out before is then whole.
    var isAtEnd: Bool { get }
}

/// The decoders of one body, one behind the other: `Content-Encoding: deflate, gzip` was deflated first, so gzip comes
/// off first.
package struct DecodingChain: ~Copyable {
    private struct Stage {
        let decoder: any ContentDecoder
        let name: String
        var input = Data()
        /// Whether the last piece was as large as it may be, so that there may be more without any input.
        var mayHoldMore = false
    }

    /// The largest piece that is handed out, in bytes: a few bytes of a bomb become no more than this at once.
    package static let pieceBytes = 65_536
    private var stages: [Stage]
    private var hasInput = false
    /// How many bytes came out so far.
    package private(set) var produced = 0

    /// - Parameter decoders: In the order in which they are taken off, with their names for errors.
    package init(_ decoders: [(name: String, decoder: any ContentDecoder)]) {
        stages = decoders.map { Stage(decoder: $0.decoder, name: $0.name) }
    }

    /// The next bytes from the wire; to be called when ``next()`` has nothing left.
    package mutating func append(_ bytes: Data) {
        hasInput = true
        stages[0].input = bytes
    }

    /// Decoded bytes, never empty; `nil` when more is needed from the wire.
    package mutating func next() throws -> Data? {
        let piece = try next(from: stages.count - 1)
        produced += piece?.count ?? 0
        return piece
    }

    private mutating func next(from index: Int) throws -> Data? {
        while true {
            if stages[index].input.isEmpty, !stages[index].mayHoldMore {
                guard index > 0, let more = try next(from: index - 1) else { return nil }
                stages[index].input = more
            }
            let (output, consumed) = try stages[index].decoder.decode(stages[index].input, limit: Self.pieceBytes)
            stages[index].input = stages[index].input.dropFirst(consumed)
            stages[index].mayHoldMore = output.count == Self.pieceBytes
            if !output.isEmpty { return output }
            guard consumed > 0 || stages[index].input.isEmpty else {
                throw NetworkError.damagedEncoding(stages[index].name, "goes on after its end")
            }
        }
    }

    /// The body has ended on the wire.
    /// - Throws: ``NetworkError/Code/invalidContentEncoding`` if a coding has not. A body without any byte is whole.
    package func end() throws {
        guard hasInput else { return }
        for stage in stages where !stage.decoder.isAtEnd {
            throw NetworkError.damagedEncoding(stage.name, "ends early")
        }
    }
}

extension NetworkError {
    /// The error for a body whose coding is not what it should be.
    package static func damagedEncoding(_ name: String, _ problem: String) -> NetworkError {
        NetworkError(.invalidContentEncoding, "the body's \(name) encoding \(problem)", phase: .receiving)
    }
}
