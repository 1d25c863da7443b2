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
