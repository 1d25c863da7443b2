package import Foundation

/// Bytes in which one piece is repeated, as in a small hostile body that decodes to a large one. They can be
/// compressed, several times over too, without being written out in full.
package struct RepeatedBytes: Sendable {
    /// The bytes before the pieces.
    package var start: Data
    /// The bytes that are repeated: not empty, and at most 32,768 bytes for ``gzipped()``.
    package var piece: Data
    /// The number of repetitions.
    package var times: Int

    /// Creates bytes in which a piece is repeated after a start.
    package init(_ piece: Data, times: Int, after start: Data = Data()) {
        self.start = start
        self.piece = piece
        self.times = times
    }

    /// All the bytes, in one piece of memory.
    package var bytes: Data {
        var bytes = start
        bytes.reserveCapacity(start.count + piece.count * times)
        for _ in 0..<times { bytes.append(piece) }
        return bytes
    }

    /// Returns the same bytes in a gzip container, about a hundred times smaller and a few pieces shorter.
    ///
    /// The container has no trailer, because its checksum would need all of the bytes. Fewer than 5,000 bytes grow.
    package func gzipped() -> RepeatedBytes {
        var bits = BitWriter()
        // The fixed codes of RFC 1951 §3.2.6, in a block that is not the final one.
        bits.append(0, count: 1)
        bits.append(0b01, count: 2)
        for byte in start + piece { bits.appendLiteral(byte) }
        // Eight equal codes end at the bit offset at which they began, so whole bytes repeat.
        let groups = (times - 1) * piece.count / (8 * Self.matchBytes)
        for _ in 0..<8 { bits.appendMatch(distance: piece.count) }
        let first = bits.fullBytes
        for _ in 0..<8 { bits.appendMatch(distance: piece.count) }
        let second = bits.fullBytes
        return RepeatedBytes(
            Data(bits.bytes[first..<second]), times: max(0, groups - 1), after: Gzip.header + bits.bytes[..<first])
    }

    private static let matchBytes = 258
}

extension BitWriter {
    /// Appends a byte with its fixed code.
    fileprivate mutating func appendLiteral(_ byte: UInt8) {
        if byte < 144 {
            appendCode(0b0011_0000 + Int(byte), count: 8)
        } else {
            appendCode(0b1_1001_0000 + Int(byte) - 144, count: 9)
        }
    }

    /// Appends a match of 258 bytes at a distance, in bytes.
    fileprivate mutating func appendMatch(distance: Int) {
        appendCode(0b1100_0101, count: 8)
        var (code, base, extra) = (0, 1, 0)
        while distance >= base + 1 << extra {
            base += 1 << extra
            code += 1
            extra = max(0, code / 2 - 1)
        }
        appendCode(code, count: 5)
        append(distance - base, count: extra)
    }
}
