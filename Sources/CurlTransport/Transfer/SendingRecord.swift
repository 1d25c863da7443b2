/// How often one request went out, and whether it may go out again. Pure.
///
/// libcurl repeats a request whose kept connection ends before the first byte of a response (Curl_retry_request),
/// whatever its method. The server may have executed it by then, so a request that is not idempotent is not repeated
/// (RFC 9110 §9.2.2). Going out again after a challenge is different: the server has responded to the first request. So
/// is a stream of HTTP/2 that the server refused, or that lies above the last one of its GOAWAY: it was not executed,
/// whatever its method (RFC 9113 §8.7).
struct SendingRecord {
    /// How often the request went out.
    private(set) var attempts = 0
    /// How many of these attempts were repeats after a lost connection.
    private(set) var repeats = 0
    private let mayRepeat: Bool
    /// Whether the count of bytes tells that nothing has gone out. Over TLS it may miss what does: OpenSSL takes a
    /// piece at once, and libcurl counts it when all its records are sent.
    private let isCounted: Bool
    /// How many bytes of the request had gone out before the last attempt.
    private var sentBefore = 0
    private var hasResponse = false
    /// Whether the server has refused the stream of the last attempt.
    private(set) var isRefused = false
    /// How many repeats came after an attempt that was not refused.
    private var losses = 0

    init(mayRepeat: Bool, isCounted: Bool) { (self.mayRepeat, self.isCounted) = (mayRepeat, isCounted) }

    /// The limit on repeats, which is libcurl's for one handle.
    static let maximumRepeats = 5
    /// The limit on attempts whose streams were refused: as many requests as are in flight may share a connection that
    /// takes a few of them.
    private static let maximumAttempts = 256

    /// Records that the server refused the stream of the last attempt.
    mutating func streamWasRefused() { isRefused = true }

    /// Records that a line of a response has arrived.
    mutating func responseArrived() { hasResponse = true }

    /// Whether the next attempt is a repeat.
    var isRepeat: Bool { attempts > 0 && !hasResponse }

    /// Returns whether the request may go out, over any connection.
    /// - Parameter sent: The number of its bytes that have gone out until now, over all attempts.
    func mayGoOut(sent: Int) -> Bool {
        guard isRepeat else { return true }
        if isRefused { return attempts < Self.maximumAttempts }
        return losses < Self.maximumRepeats && (mayRepeat || isCounted && sent <= sentBefore)
    }

    /// Returns whether nothing of the request has gone out, apart from what made its connection.
    /// - Parameter sent: The number of its bytes that have gone out until now, a proxy's CONNECT included.
    func isUnsent(sent: Int) -> Bool { attempts <= 1 && sent == sentBefore }

    /// Records that the request is about to go out.
    /// - Parameter sent: The number of its bytes that have gone out until now, over all attempts.
    /// - Returns: Whether it may.
    mutating func goesOut(sent: Int) -> Bool {
        guard mayGoOut(sent: sent) else { return false }
        let isRepeat = isRepeat
        attempts += 1
        if isRepeat { repeats += 1 }
        if isRepeat, !isRefused { losses += 1 }
        isRefused = false
        sentBefore = sent
        hasResponse = false
        return true
    }
}
