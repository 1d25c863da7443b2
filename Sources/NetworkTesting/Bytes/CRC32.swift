package import Foundation

/// The CRC-32 checksum ([RFC 1952 §8](https://www.rfc-editor.org/rfc/rfc1952#section-8)), for comparing large bodies.
package struct CRC32: Sendable {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
    }

    private var state: UInt32 = 0xFFFF_FFFF

    /// Creates the checksum of no bytes.
    package init() {}

    /// Adds bytes to the checksum.
    package mutating func update(_ bytes: some Sequence<UInt8>) {
        let table = Self.table
        var state = state
        for byte in bytes { state = table[Int((state ^ UInt32(byte)) & 0xFF)] ^ (state >> 8) }
        self.state = state
    }

    /// The checksum of all bytes added so far.
    package var value: UInt32 { ~state }

    /// The checksum as eight hexadecimal digits, the form in the response of `/upload`.
    package var text: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }

    /// Returns the checksum of a whole body.
    package static func of(_ bytes: Data) -> CRC32 {
        var sum = CRC32()
        sum.update([UInt8](bytes))
        return sum
    }
}
