public import Foundation

/// Bytes in which one piece stands again and again: what a small hostile body is large with. They can be packed, also
/// several times over, without ever being written out.
public struct RepeatedBytes: Sendable {
    /// What stands before the pieces.
    public var start: Data
    /// What is repeated; not empty, and of at most 32,768 bytes if it is to be packed.
    public var piece: Data
    /// How often.
    public var times: Int

    /// Bytes in which a piece is repeated.
    public init(_ piece: Data, times: Int, after start: Data = Data()) {
        self.start = start
        self.piece = piece
        self.times = times
    }

    /// All of them.
    public var bytes: Data {
        var bytes = start
        bytes.reserveCapacity(start.count + piece.count * times)
        for _ in 0..<times { bytes.append(piece) }
        return bytes
    }

    /// The same in a gzip container, a hundred times smaller and a few pieces shorter. The container's end is left out,
    /// for which all of it would have to be summed up. Not for fewer than 5,000 bytes, which become more.
    public func gzipped() -> RepeatedBytes {
        var bits = BitWriter()
        // The fixed codes of RFC 1951 §3.2.6, in a block that is not the last.
        bits.append(0, count: 1)
        bits.append(0b01, count: 2)
        for byte in start + piece { bits.appendLiteral(byte) }
        // Eight equal codes end in the bit of a byte that they began in, so that whole bytes are repeated.
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
    /// A byte by its fixed code.
    fileprivate mutating func appendLiteral(_ byte: UInt8) {
        if byte < 144 {
            appendCode(0b0011_0000 + Int(byte), count: 8)
        } else {
            appendCode(0b1_1001_0000 + Int(byte) - 144, count: 9)
        }
    }

    /// 258 bytes from so far back.
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
