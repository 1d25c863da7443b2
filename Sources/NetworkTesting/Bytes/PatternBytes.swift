public import Foundation

/// Bytes that anybody can work out again: what `/bytes/:count` serves.
///
/// They repeat after 65,521 bytes, a prime, so that a chunk that is lost, doubled or moved shows.
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

    /// The bytes from one offset on.
    /// - Parameters:
    ///   - count: How many; at least 0.
    ///   - offset: Where to start; at least 0.
    public static func make(count: Int, from offset: Int = 0) -> Data {
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
