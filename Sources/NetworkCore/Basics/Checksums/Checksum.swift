public import FoundationEssentials

/// A hash or checksum that is computed piece by piece. ``SHA256Checksum`` is included; add any other with this
/// protocol:
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
    /// Adds the next bytes.
    mutating func update(_ bytes: Data)
    /// Returns the result. Called once, at the end.
    mutating func finish() -> [UInt8]
}
