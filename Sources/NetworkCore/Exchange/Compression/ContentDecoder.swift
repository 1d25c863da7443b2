package import FoundationEssentials

/// Takes one content coding off a body, piece by piece.
///
/// Used by one reader at a time, under a lock.
package protocol ContentDecoder: AnyObject {
    /// Decodes the start of `input`. It must return soon: nothing interrupts it.
    /// - Parameters:
    ///   - input: The next bytes; empty to fetch what is still held inside.
    ///   - limit: The most bytes to give back.
    /// - Returns: What came out, and how many bytes of `input` that took.
    /// - Throws: ``NetworkError/Code/invalidContentEncoding`` for damaged bytes.
    func decode(_ input: Data, limit: Int) throws -> (output: Data, consumed: Int)

    /// Whether the coding's own end has been read; what came out before is then whole.
    var isAtEnd: Bool { get }
}

extension NetworkError {
    /// The error for a body whose coding is not what it should be.
    package static func damagedEncoding(_ name: String, _ problem: String) -> NetworkError {
        NetworkError(.invalidContentEncoding, "the body's \(name) encoding \(problem)", phase: .receiving)
    }
}
