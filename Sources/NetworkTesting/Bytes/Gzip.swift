public import Foundation

/// Creates gzip bodies ([RFC 1952](https://www.rfc-editor.org/rfc/rfc1952)) without a compression library.
///
/// It is for servers in tests, where the container matters and the size does not.
public enum Gzip {
    /// Returns bytes in a gzip container, stored without compression.
    public static func stored(_ bytes: Data) -> Data {
        let content = [UInt8](bytes)
        var blocks: [UInt8] = []
        var start = 0
        repeat {
            let end = min(start + 65_535, content.count)
            let length = UInt16(end - start)
            blocks.append(end == content.count ? 1 : 0)
            blocks += littleEndian(length) + littleEndian(~length)
            blocks += content[start..<end]
            start = end
        } while start < content.count
        return container(blocks, checksum: CRC32.of(bytes).value, count: content.count)
    }

    /// Returns `count` zero bytes, compressed to about 1/150 of their size: a small body that decodes to a large one. A
    /// negative count is 0.
    public static func zeros(count: Int) -> Data {
        let count = max(0, count)
        var bits = BitWriter()
        // A single, final block with the fixed Huffman codes of RFC 1951 §3.2.6.
        bits.append(0b1, count: 1)
        bits.append(0b01, count: 2)
        var left = count
        if left > 0 {
            bits.appendCode(0b0011_0000, count: 8)
            left -= 1
        }
        while left >= 258 {
            // Length 258 has the code 285, distance 1 the code 0.
            bits.appendCode(0b1100_0101, count: 8)
            bits.appendCode(0, count: 5)
            left -= 258
        }
        for _ in 0..<left { bits.appendCode(0b0011_0000, count: 8) }
        bits.appendCode(0, count: 7)
        var sum = CRC32()
        sum.update(repeatElement(0, count: count))
        return container(bits.bytes, checksum: sum.value, count: count)
    }

    /// The container's first bytes, without a name, a time or an operating system.
    static let header = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255])

    private static func container(_ blocks: [UInt8], checksum: UInt32, count: Int) -> Data {
        header + Data(blocks + littleEndian(checksum) + littleEndian(UInt32(truncatingIfNeeded: count)))
    }

    private static func littleEndian<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        (0..<(Number.bitWidth / 8)).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
}
