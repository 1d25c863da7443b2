/// The bytes of a response's head, gathered line by line as libcurl reports them, parsed later and elsewhere.
///
/// libcurl reports every block: 1xx answers, a proxy's, rounds of authentication. Only the last one counts, so each
/// `HTTP/` line starts afresh. What follows the last blank line are trailers.
struct ResponseHeadBuffer: Sendable {
    /// The largest head that is accepted, in bytes, all lines of one block together.
    static let maximumBytes = 256 * 1024

    private(set) var bytes: [UInt8] = []
    private var isComplete = false
    private var isInterim = false
    /// Whether the block's status is 401 or 407, which ask for credentials.
    private(set) var isChallenge = false
    /// What came after the head: the trailers' lines.
    private(set) var trailerBytes: [UInt8] = []

    /// Whether a final (not 1xx) head has arrived whole.
    var hasFinalHead: Bool { isComplete && !isInterim }

    /// Takes one line, its end included.
    /// - Parameter afterBody: Whether the body has begun: whatever comes then is a trailer.
    /// - Returns: Whether it still fits.
    mutating func append(line: some Collection<UInt8>, afterBody: Bool) -> Bool {
        if !afterBody, line.starts(with: "HTTP/".utf8) {
            bytes.removeAll(keepingCapacity: true)
            isComplete = false
            isInterim = Self.isInterim(statusLine: line)
            let status = line.drop { $0 != UInt8(ascii: " ") }
            isChallenge = status.starts(with: " 401".utf8) || status.starts(with: " 407".utf8)
        } else if hasFinalHead {
            guard trailerBytes.count + line.count <= Self.maximumBytes else { return false }
            trailerBytes.append(contentsOf: line)
            return true
        }
        guard bytes.count + line.count <= Self.maximumBytes else { return false }
        bytes.append(contentsOf: line)
        if line.allSatisfy({ $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }) { isComplete = true }
        return true
    }

    /// 1xx but for 101, after which the protocol changes for good.
    private static func isInterim(statusLine: some Collection<UInt8>) -> Bool {
        guard let space = statusLine.firstIndex(of: UInt8(ascii: " ")) else { return false }
        let code = statusLine[space...].dropFirst().prefix(3)
        return code.first == UInt8(ascii: "1") && !code.elementsEqual("101".utf8)
    }
}
