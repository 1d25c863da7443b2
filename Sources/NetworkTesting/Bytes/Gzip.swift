public import Foundation
import NetworkCore

/// Creates gzip bodies ([RFC 1952](https://www.rfc-editor.org/rfc/rfc1952)) for servers in tests.
public enum Gzip {
    /// Returns bytes in a gzip container, stored without compression.
    public static func stored(_ bytes: Data) -> Data { packed(CollectionOfOne(bytes), level: 0) }

    /// Returns `count` zero bytes, compressed: a small body that decodes to a large one. A negative count is 0.
    public static func zeros(count: Int) -> Data {
        let (whole, rest) = max(0, count).quotientAndRemainder(dividingBy: 1 << 20)
        return packed(repeatElement(Data(count: 1 << 20), count: whole) + [Data(count: rest)])
    }

    /// The bytes before the first block of a container.
    fileprivate static let headerBytes = 10

    /// - Parameter isWhole: Whether the container ends after the pieces, which are whole blocks otherwise.
    fileprivate static func packed(_ pieces: some Sequence<Data>, level: Int = 9, isWhole: Bool = true) -> Data {
        do {
            let deflater = try Deflater(level: level)
            let blocks = try pieces.reduce(into: Data()) { try $0 += deflater.pack($1, isLast: false) }
            return try blocks + deflater.pack(Data(), isLast: isWhole, flushes: true)
        } catch {
            preconditionFailure("\(error)")
        }
    }
}

/// Bytes in which one piece is repeated, which are compressed, also several times, without being written out in full.
package struct RepeatedBytes: Sendable {
    /// The bytes before the pieces.
    package var start: Data
    /// The bytes that are repeated, not empty.
    package var piece: Data
    /// The number of repetitions.
    package var times: Int

    /// Creates bytes in which a piece is repeated after a start.
    package init(_ piece: Data, times: Int, after start: Data = Data()) {
        (self.start, self.piece, self.times) = (start, piece, times)
    }

    /// All the bytes, in one piece of memory.
    package var bytes: Data {
        var bytes = start
        bytes.reserveCapacity(start.count + piece.count * times)
        for _ in 0..<times { bytes.append(piece) }
        return bytes
    }

    /// Returns the bytes in a gzip container without a trailer, up to the last whole block of 64 KiB.
    package func gzipped() -> RepeatedBytes {
        let count = max(1, 65_536 / piece.count)
        // Blocks at the start of a container refer to no bytes before them, so they can follow one another.
        let block = Gzip.packed([RepeatedBytes(piece, times: count).bytes], isWhole: false)
        return RepeatedBytes(
            Data(block.dropFirst(Gzip.headerBytes)), times: times / count, after: Gzip.packed([start], isWhole: false))
    }
}

/// The fixed byte pattern that `/bytes/:count` serves, which a test can compute itself.
///
/// The pattern repeats after 65,521 bytes. The period is prime, so a lost, repeated or moved chunk changes the bytes.
public enum PatternBytes {
    static let period = 65_521

    private static let block: Data = {
        var state: UInt32 = 1
        return Data(
            (0..<period).map { _ in
                state = state &* 1_664_525 &+ 1_013_904_223
                return UInt8(truncatingIfNeeded: state >> 24)
            }
        )
    }()

    /// Returns bytes of the pattern, starting at an offset.
    /// - Parameters:
    ///   - count: The number of bytes; a negative one is 0.
    ///   - offset: The offset of the first byte; a negative one is 0, the default.
    public static func make(count: Int, from offset: Int = 0) -> Data {
        let (count, offset) = (max(0, count), max(0, offset))
        var bytes = Data(capacity: count)
        var start = offset % period
        while bytes.count < count {
            let end = min(period, start + count - bytes.count)
            bytes.append(block[start..<end])
            start = 0
        }
        return bytes
    }
}
