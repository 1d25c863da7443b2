public import FoundationEssentials

/// A hash or checksum that is fed piece by piece. ``SHA256Checksum`` ships; any other comes in by this protocol:
///
/// ```swift
/// import Crypto
///
/// struct SHA512Checksum: Checksum {
///     private var hasher = SHA512()
///     mutating func update(_ bytes: Data) { hasher.update(data: bytes) }
///     mutating func finish() -> [UInt8] { Array(hasher.finalize()) }
/// }
/// ```
public protocol Checksum: Sendable {
    /// Takes the next bytes.
    mutating func update(_ bytes: Data)
    /// The result. Called once, at the end.
    mutating func finish() -> [UInt8]
}

extension DownloadedFile {
    /// What a download has to add up to.
    public struct ExpectedChecksum: Sendable {
        /// The expected result in hexadecimal digits.
        public let hexadecimal: String
        /// Makes the checksum that is compared.
        public let make: @Sendable () -> any Checksum

        /// An expectation by a checksum of your own.
        /// - Parameters:
        ///   - hexadecimal: The expected result, two digits a byte, in either case.
        ///   - make: Makes the checksum.
        public init(_ hexadecimal: String, by make: @escaping @Sendable () -> any Checksum) {
            self.hexadecimal = hexadecimal.lowercased()
            self.make = make
        }

        /// A SHA-256, as `sha256sum` prints it: 64 hexadecimal digits.
        public static func sha256(_ hexadecimal: String) -> ExpectedChecksum {
            ExpectedChecksum(hexadecimal) { SHA256Checksum() }
        }

        /// - Throws: ``NetworkError/Code/invalidOption`` for what no checksum can be equal to.
        func check() throws {
            let isHexadecimal = hexadecimal.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x61...0x66).contains($0)
            }
            var empty = make()
            guard isHexadecimal, hexadecimal.utf8.count == 2 * empty.finish().count else {
                throw OptionCheck.invalid(
                    "checksum", "is not what this kind of checksum looks like, in hexadecimal digits")
            }
        }
    }
}
