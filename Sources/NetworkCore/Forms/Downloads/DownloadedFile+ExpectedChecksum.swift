extension DownloadedFile {
    /// The checksum that a download must have.
    public struct ExpectedChecksum: Sendable {
        /// The expected result in hexadecimal digits, in lower case.
        let hexadecimal: String
        /// Creates the checksum that is compared.
        let make: @Sendable () -> any Checksum

        /// Creates an expectation with a checksum of your own.
        /// - Parameters:
        ///   - hexadecimal: The expected result, two digits per byte, in either case.
        ///   - make: Creates the checksum.
        public init(_ hexadecimal: String, by make: @escaping @Sendable () -> any Checksum) {
            self.hexadecimal = hexadecimal.lowercased()
            self.make = make
        }

        /// Returns the expectation of a SHA-256 in the format of `sha256sum`: 64 hexadecimal digits.
        public static func sha256(_ hexadecimal: String) -> ExpectedChecksum {
            ExpectedChecksum(hexadecimal) { SHA256Checksum() }
        }

        /// Checks the expectation.
        /// - Throws: ``NetworkError/Code/invalidOption`` for a text that no result of the checksum can equal.
        func check() throws {
            let isHexadecimal = hexadecimal.utf8.allSatisfy { $0.hexDigit != nil }
            var empty = make()
            let digits = 2 * empty.finish().count
            guard hexadecimal.utf8.count == digits else {
                throw OptionCheck.invalid(
                    "checksum", "must have \(digits) hexadecimal digits, and has \(hexadecimal.utf8.count) bytes")
            }
            guard isHexadecimal else { throw OptionCheck.invalid("checksum", "must be hexadecimal digits") }
        }
    }
}
