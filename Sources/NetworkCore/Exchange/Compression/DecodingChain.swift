package import FoundationEssentials

/// The decoders of one body, one behind the other: `Content-Encoding: deflate, gzip` was deflated first, so gzip comes
/// off first.
///
/// Each step is one call of one decoder, whose input and output are bounded, so that a deadline can be looked at
/// between any two of them, whatever the bytes are.
package struct DecodingChain: ~Copyable {
    /// What a step came to.
    package enum Step: Sendable, Equatable {
        /// Decoded bytes, never empty.
        case piece(Data)
        /// There is more to do, and nothing came out yet.
        case goOn
        /// More is needed from the wire.
        case needsInput
    }

    /// The largest piece that is handed out, in bytes: a few bytes of a bomb become no more than this at once.
    package static let pieceBytes = 65_536
    private var stages: [DecodingStage]
    private var hasInput = false
    /// How many bytes came out so far.
    package private(set) var produced = 0
    /// How many bytes went into and came out of all stages: a measure of the time that was spent.
    package private(set) var work = 0

    /// - Parameter decoders: In the order in which they are taken off, with their names for errors.
    package init(_ decoders: [(name: String, decoder: any ContentDecoder)]) {
        stages = decoders.map { DecodingStage($0.decoder, name: $0.name) }
    }

    /// The next bytes from the wire; to be called when ``step()`` needs them.
    package mutating func append(_ bytes: Data) {
        hasInput = true
        stages[0].input = bytes
    }

    /// Lets the last decoder that has something to do go on.
    /// - Throws: ``NetworkError/Code/invalidContentEncoding``.
    package mutating func step() throws -> Step {
        for index in stages.indices.reversed() where stages[index].isBusy {
            let output = try stages[index].step()
            work += output.count + stages[index].lastConsumed
            if output.isEmpty { return .goOn }
            guard index < stages.count - 1 else {
                produced += output.count
                return .piece(output)
            }
            // The stage behind has used up what it had, or it would have been its turn.
            stages[index + 1].input = output
            return .goOn
        }
        return .needsInput
    }

    /// The body has ended on the wire.
    /// - Throws: ``NetworkError/Code/invalidContentEncoding`` if a coding has not. A body without any byte is whole.
    package func end() throws {
        guard hasInput else { return }
        for stage in stages { try stage.end() }
    }
}

/// One decoder, with what it has not taken yet.
private struct DecodingStage {
    /// The most bytes of input for one step: empty blocks give nothing, however many of them are taken in.
    private static let inputBytes = 32_768
    /// What a stage may take in that gives nothing: so many bytes, and so many more for each byte that came out. Real
    /// codings make a body smaller; one that is sent in tiny pieces, each flushed, becomes a few times larger.
    private static let (fruitlessBytes, fruitlessBytesPerByte) = (1 << 20, 32)

    private let decoder: any ContentDecoder
    private let name: String
    var input = Data()
    /// Whether the last piece was as large as it may be, so that there may be more without any input.
    private var mayHoldMore = false
    private var (consumed, produced) = (0, 0)
    /// What the last step took in.
    private(set) var lastConsumed = 0

    init(_ decoder: any ContentDecoder, name: String) {
        self.decoder = decoder
        self.name = name
    }

    /// Whether there is something to do without more input.
    var isBusy: Bool { mayHoldMore || !input.isEmpty }

    mutating func step() throws -> Data {
        let offered = input.prefix(Self.inputBytes)
        let (output, taken) = try decoder.decode(offered, limit: DecodingChain.pieceBytes)
        input = input.dropFirst(taken)
        mayHoldMore = output.count == DecodingChain.pieceBytes
        lastConsumed = taken
        consumed += taken
        produced += output.count
        guard taken > 0 || !output.isEmpty || offered.isEmpty else {
            throw NetworkError.damagedEncoding(name, "goes on after its end")
        }
        guard (consumed - Self.fruitlessBytes) / Self.fruitlessBytesPerByte <= produced else {
            throw NetworkError.damagedEncoding(name, "has \(consumed) bytes that decode to no more than \(produced)")
        }
        return output
    }

    func end() throws {
        if !decoder.isAtEnd { throw NetworkError.damagedEncoding(name, "ends early") }
    }
}
