package import FoundationEssentials

/// A decoder that removes one content coding from a body, chunk by chunk.
///
/// One reader at a time uses it, under a lock.
package protocol ContentDecoder: AnyObject {
    /// Decodes the start of `input`. It must return soon, because nothing interrupts it.
    /// - Parameters:
    ///   - input: The next bytes; empty to get bytes that the decoder still holds.
    ///   - limit: The maximum number of bytes to return.
    /// - Returns: The decoded bytes, and the number of bytes of `input` that were consumed.
    /// - Throws: ``NetworkError/Code/invalidContentEncoding`` for damaged bytes.
    func decode(_ input: Data, limit: Int) throws -> (output: Data, consumed: Int)

    /// Whether the end of the coding has been read. All output before it is then complete.
    var isAtEnd: Bool { get }
}

extension NetworkError {
    /// Returns the error for a body with a damaged coding.
    package static func damagedEncoding(_ name: String, _ problem: String) -> NetworkError {
        NetworkError(.invalidContentEncoding, "the body's \(name) encoding \(problem)", phase: .receiving)
    }
}
