/// Whether a transfer looks up a name. Pure.
///
/// libcurl tells when it begins a look-up (CURLOPT_RESOLVER_START_FUNCTION) and not when one has ended. A socket that
/// is opened shows that, but not with a SOCKS proxy that is told an address: the server's name is looked up when the
/// connection to the proxy is there already, and the next that is seen of the transfer is its request.
struct LookUp {
    private var began: MonotonicTime?
    /// Whether a socket was opened since the request was last to go out.
    private var hasSocket = false

    /// The longest that a look-up behind a proxy is waited for, since its end may go unseen: the C library gives up
    /// before.
    static let longestUnseen = Duration.seconds(30)

    /// libcurl asks for the addresses of a name, or reads one of a number.
    /// - Parameter isBehindProxy: Whether a SOCKS proxy may be told the server's address.
    mutating func begins(at now: MonotonicTime, isBehindProxy: Bool) {
        // Else it is the address of an interface, to bind the socket to.
        if !hasSocket || isBehindProxy { began = now }
    }

    mutating func socketOpened() {
        hasSocket = true
        began = nil
    }

    /// The request goes out, or its response comes. What follows may take another connection.
    mutating func requestGoesOut() {
        hasSocket = false
        began = nil
    }

    /// Whether a name may be looked up now.
    func isUnderWay(at now: MonotonicTime) -> Bool {
        guard let began else { return false }
        return !hasSocket || now < began + Self.longestUnseen
    }

    /// Whether one is looked up for certain.
    var isKnown: Bool { began != nil && !hasSocket }
}
