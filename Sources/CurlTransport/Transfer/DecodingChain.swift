import FoundationEssentials
import NetworkCore

/// The decoders of one body, in series. With `Content-Encoding: deflate, gzip` the body was deflated first, so gzip is
/// removed first.
struct DecodingChain: ~Copyable {
    enum Step: Sendable, Equatable {
        /// Decoded bytes, never empty.
        case piece(Data)
        /// No output yet, but more work to do.
        case noOutput
        /// More bytes are needed from the wire.
        case needsInput
    }

    /// The maximum size of a piece of output, in bytes.
    static let pieceBytes = 65_536
    private var stages: [DecodingStage]
    private var hasInput = false
    private(set) var produced = 0
    /// The number of bytes of input and output of all stages: a measure of the time spent.
    private(set) var work = 0

    /// - Parameter decoders: The decoders in the order in which the codings are removed, with their names for errors.
    init(_ decoders: [(name: String, decoder: any ContentDecoder)]) {
        stages = decoders.map { DecodingStage($0.decoder, name: $0.name) }
    }

    /// Appends the next bytes from the wire. Call it only when ``step()`` returned ``Step/needsInput``.
    mutating func append(_ bytes: Data) {
        hasInput = true
        stages[0].input = bytes
    }

    /// Runs one step of the last decoder that has work to do.
    mutating func step() throws -> Step {
        for index in stages.indices.reversed() where stages[index].isBusy {
            let output = try stages[index].step()
            work += output.count + stages[index].lastConsumed
            if output.isEmpty { return .noOutput }
            guard index < stages.count - 1 else {
                produced += output.count
                return .piece(output)
            }
            // The next stage has no input left, or it would have run instead.
            stages[index + 1].input = output
            return .noOutput
        }
        return .needsInput
    }

    /// Checks that the codings end where the body ended on the wire. An empty body is complete.
    func end() throws {
        guard hasInput else { return }
        for stage in stages { try stage.end() }
    }
}

/// One decoder, with the input that it has not consumed yet.
private struct DecodingStage {
    /// The maximum number of input bytes for one step. Empty blocks produce no output, however many are consumed.
    private static let inputBytes = 32_768
    /// The input that a stage may consume: 1 MiB, plus 32 bytes for each byte of output.
    private static let (fruitlessBytes, fruitlessBytesPerByte) = (1 << 20, 32)

    private let decoder: any ContentDecoder
    private let name: String
    var input = Data()
    /// Whether the last piece had the maximum size, so that there may be more output without further input.
    private var mayHoldMore = false
    private var (consumed, produced) = (0, 0)
    /// The number of bytes that the last step consumed.
    private(set) var lastConsumed = 0

    init(_ decoder: any ContentDecoder, name: String) {
        self.decoder = decoder
        self.name = name
    }

    /// Whether there is work to do without more input.
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
            throw NetworkError.damagedEncoding(name, "continues after its end")
        }
        guard (consumed - Self.fruitlessBytes) / Self.fruitlessBytesPerByte <= produced else {
            throw NetworkError.damagedEncoding(name, "has \(consumed) bytes that decode to no more than \(produced)")
        }
        return output
    }

    func end() throws {
        guard !decoder.isAtEnd else { return }
        throw NetworkError(.truncatedBody, "the body's \(name) encoding ends early", phase: .receiving)
    }
}
