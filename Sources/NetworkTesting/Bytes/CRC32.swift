public import Foundation

/// The checksum that gzip uses (RFC 1952 §8), for bodies that are compared by number.
public struct CRC32: Sendable {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
    }

    private var state: UInt32 = 0xFFFF_FFFF

    /// The checksum of no bytes.
    public init() {}

    /// Adds bytes.
    public mutating func update(_ bytes: some Sequence<UInt8>) {
        let table = Self.table
        var state = state
        for byte in bytes { state = table[Int((state ^ UInt32(byte)) & 0xFF)] ^ (state >> 8) }
        self.state = state
    }

    /// The checksum of all bytes so far.
    public var value: UInt32 { ~state }

    /// The checksum as eight hexadecimal digits, as `/upload` answers it.
    public var text: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }

    /// The checksum of a whole body.
    public static func of(_ bytes: Data) -> CRC32 {
        var sum = CRC32()
        sum.update([UInt8](bytes))
        return sum
    }
}
