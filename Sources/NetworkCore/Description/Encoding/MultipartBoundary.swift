import FoundationEssentials

extension MultipartPart {
    /// What stands between the parts of a multipart body.
    public enum Boundary {
        /// A new one: 40 hexadecimal digits after a fixed start, from the system's random numbers. That it occurs in a
        /// file by chance has a probability below 1 in 2^128 for each byte.
        @Sendable public static func random() -> String {
            var generator = SystemRandomNumberGenerator()
            return random(using: &generator)
        }

        /// A new one from a generator, a seeded one for example.
        public static func random(using generator: inout some RandomNumberGenerator) -> String {
            let digits = (0..<40).map { _ in String(Int.random(in: 0...15, using: &generator), radix: 16) }
            return "NetworkLayer-" + digits.joined()
        }

        /// How often a new one is asked for when one occurs in a part.
        static let attempts = 8

        /// A boundary that occurs in none of the bytes that are known.
        /// - Throws: ``NetworkError/Code/invalidParameters`` if the generator gives none.
        static func make(_ generate: () -> String, avoiding parts: [Data]) throws -> String {
            for _ in 0..<attempts {
                let boundary = generate()
                try check(boundary)
                if !parts.contains(where: { occurs(Array(boundary.utf8), in: $0) }) { return boundary }
            }
            throw NetworkError(
                .invalidParameters,
                "each of \(attempts) multipart boundaries occurs in a part",
                phase: .preparing
            )
        }

        private static func occurs(_ boundary: [UInt8], in part: Data) -> Bool {
            let bytes = part.span
            guard bytes.count >= boundary.count else { return false }
            for start in 0...(bytes.count - boundary.count) where bytes[start] == boundary[0] {
                if boundary.indices.allSatisfy({ bytes[start + $0] == boundary[$0] }) { return true }
            }
            return false
        }

        /// RFC 2046 §5.1.1, without the characters that would need quotes in Content-Type.
        private static func check(_ boundary: String) throws {
            let isPlain = boundary.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || "-_.'+".utf8.contains(byte)
            }
            guard isPlain, (1...70).contains(boundary.utf8.count) else {
                throw NetworkError(
                    .invalidParameters,
                    "a multipart boundary has 1 to 70 letters, digits and -_.'+",
                    phase: .preparing
                )
            }
        }
    }
}
