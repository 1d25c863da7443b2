import FoundationEssentials

extension MultipartPart {
    /// The text that separates the parts of a multipart body.
    enum Boundary {
        /// Returns a new boundary: a fixed prefix and 40 hexadecimal digits from the system's random numbers. The
        /// probability that it occurs in a file by chance is below 1 in 2^128 for each byte.
        @Sendable static func random() -> String {
            var generator = SystemRandomNumberGenerator()
            return random(using: &generator)
        }

        /// Returns a new boundary from a generator, such as a seeded one.
        static func random(using generator: inout some RandomNumberGenerator) -> String {
            let digits = (0..<40).map { _ in String(Int.random(in: 0...15, using: &generator), radix: 16) }
            return "NetworkLayer-" + digits.joined()
        }

        /// The limit on the boundaries that are generated when each occurs in a part.
        static let attempts = 8

        /// Returns a boundary that does not occur in the known bytes.
        /// - Throws: ``NetworkError/Code/invalidParameters`` if each of 8 boundaries occurs in them, or if one is
        ///   invalid.
        static func make(_ generate: () -> String, avoiding parts: [Data]) throws -> String {
            for _ in 0..<attempts {
                let boundary = generate()
                try check(boundary)
                if !parts.contains(where: { occurs(Array(boundary.utf8), in: $0) }) { return boundary }
            }
            throw NetworkError.refused(.invalidParameters, "each of \(attempts) multipart boundaries occurs in a part")
        }

        private static func occurs(_ boundary: [UInt8], in part: Data) -> Bool {
            let bytes = part.span
            guard bytes.count >= boundary.count else { return false }
            for start in 0...(bytes.count - boundary.count) where bytes[start] == boundary[0] {
                if boundary.indices.allSatisfy({ bytes[start + $0] == boundary[$0] }) { return true }
            }
            return false
        }

        /// Checks a boundary by RFC 2046 §5.1.1, without the characters that would need quotes in Content-Type.
        private static func check(_ boundary: String) throws {
            let isPlain = boundary.utf8.allSatisfy { $0.isLetterOrDigit || "-_.'+".utf8.contains($0) }
            guard isPlain, (1...70).contains(boundary.utf8.count) else {
                throw NetworkError.refused(
                    .invalidParameters, "a multipart boundary must have 1 to 70 letters, digits or -_.'+")
            }
        }
    }
}
