/// Whether a transfer looks up a name. Pure.
///
/// libcurl reports the beginning of a lookup (CURLOPT_RESOLVER_START_FUNCTION) but not its end. A newly opened socket
/// shows the end, except with a SOCKS proxy that gets an address: libcurl looks up the server's name when the
/// connection to the proxy is already open, and the next visible event of the transfer is its request.
struct LookUp {
    private var began: MonotonicTime?
    /// Whether a socket was opened since the request last went out.
    private var hasSocket = false

    /// The longest wait for a lookup behind a proxy, since its end may go unseen: the C library gives up earlier.
    static let longestUnseen = Duration.seconds(30)

    /// Records that libcurl looks up the addresses of a name, or parses a numeric address.
    mutating func begins(at now: MonotonicTime) { began = now }

    /// Returns whether what libcurl looks up is a name to connect to, and not the address of an interface to bind the
    /// socket to.
    /// - Parameter isBehindProxy: Whether a SOCKS proxy may get the server's address.
    func isOfPeer(isBehindProxy: Bool) -> Bool { !hasSocket || isBehindProxy }

    mutating func socketOpened() {
        hasSocket = true
        began = nil
    }

    /// Records that the request goes out, or that its response arrives. What follows may use another connection.
    mutating func requestGoesOut() {
        hasSocket = false
        began = nil
    }

    /// Returns whether a lookup may be under way.
    func isUnderWay(at now: MonotonicTime) -> Bool {
        guard let began else { return false }
        return !hasSocket || now < began + Self.longestUnseen
    }

    /// Whether a lookup is certainly under way.
    var isKnown: Bool { began != nil && !hasSocket }
}

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
