/// The limit of what a proxy sends before its tunnel is open. Pure.
///
/// libcurl reads the proxy's response within one call, a byte at a time, for as long as bytes come: the body of a 407
/// to its end, which the proxy may have announced as a terabyte. It calls its progress function after each byte, so
/// these calls count the bytes. Of other calls of the progress function there are a few in one call of libcurl, and
/// many only while a body moves.
struct TunnelResponse {
    /// The maximum number of bytes in a transfer's responses to CONNECT, heads and bodies, not counting a few in each
    /// call of libcurl. Reading them takes about fifteen milliseconds, and a proxy's error page is smaller.
    static let maximumBytes = 16_384
    private static let free = 32

    private var call = 0
    private var moved = 0
    private var inCall = 0
    private var bytes = 0

    /// Counts a call of libcurl's progress function.
    /// - Parameters:
    ///   - call: The number of the current call of libcurl.
    ///   - moved: The number of body bytes sent and received.
    /// - Returns: Whether to continue.
    mutating func progresses(in call: Int, moved: Int) -> Bool {
        guard call == self.call, moved == self.moved else {
            (self.call, self.moved, inCall) = (call, moved, 0)
            return true
        }
        inCall += 1
        if inCall > Self.free { bytes += 1 }
        return bytes <= Self.maximumBytes
    }
}
