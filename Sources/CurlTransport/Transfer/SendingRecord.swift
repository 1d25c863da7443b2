/// How often one request went out, and whether it may go out again. Pure.
///
/// libcurl repeats a request whose kept connection ends before the first byte of a response (Curl_retry_request),
/// whatever its method. A server may have executed it by then, so a request that is not idempotent is not repeated (RFC
/// 9110 §9.2.2). A request that goes out again to answer a challenge is another matter: the server has responded to the
/// first.
struct SendingRecord {
    /// How often it went out.
    private(set) var attempts = 0
    /// How many of these were repeats after a lost connection.
    private(set) var repeats = 0
    private let mayRepeat: Bool
    /// What of the request had gone out, in bytes, when it was to go out last.
    private var sentBefore = 0
    private var hasResponse = false

    init(mayRepeat: Bool) { self.mayRepeat = mayRepeat }

    /// A line of a response has arrived.
    mutating func responseArrived() { hasResponse = true }

    private var isRepeat: Bool { attempts > 0 && !hasResponse }

    /// Whether the request may go out, over any connection.
    /// - Parameter sent: How many bytes of it have gone out until now, over all attempts.
    func mayGoOut(sent: Int) -> Bool { !isRepeat || mayRepeat || sent <= sentBefore }

    /// The request is about to go out.
    /// - Parameter sent: As above.
    /// - Returns: Whether it may.
    mutating func goesOut(sent: Int) -> Bool {
        guard mayGoOut(sent: sent) else { return false }
        let isRepeat = isRepeat
        attempts += 1
        if isRepeat { repeats += 1 }
        sentBefore = sent
        hasResponse = false
        return true
    }
}
