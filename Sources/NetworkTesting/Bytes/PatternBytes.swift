public import Foundation

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
