/// The bytes of a response's head, collected line by line as libcurl reports them, and parsed later on another thread.
///
/// libcurl reports every block: 1xx responses, a proxy's response, rounds of authentication. Only the last one counts,
/// so each `HTTP/` line starts over. Lines after the final head are trailers.
struct ResponseHeadBuffer: Sendable {
    /// The largest accepted head in bytes, all lines of one block together.
    static let maximumBytes = 256 * 1024
    /// The maximum number of heads in one exchange: 1xx responses, rounds of authentication, and the final one. This
    /// gives a server that sends one 102 per second while it works several minutes.
    static let maximumHeads = 256

    private var heads = 0
    /// Whether there were more heads than accepted.
    var hasTooManyHeads: Bool { heads > Self.maximumHeads }
    private(set) var bytes: [UInt8] = []
    private(set) var isComplete = false
    private(set) var isInterim = false
    /// Whether the block's status is 417: the server does not accept `Expect`.
    private(set) var refusesExpectation = false
    /// The trailer lines after the final head.
    private(set) var trailerBytes: [UInt8] = []

    /// Whether the last head is an HTTP/1 head, by its status line.
    var isHTTP1: Bool { ByteSearch.start(of: bytes, is: Self.http1) }
    private static let http1 = Array("HTTP/1.".utf8)

    /// Whether a final (not 1xx) head has begun.
    var hasBegunFinal: Bool { !bytes.isEmpty && !isInterim }

    /// Whether a final (not 1xx) head is complete.
    var hasFinalHead: Bool { isComplete && !isInterim }

    /// Appends a line within a head, as most lines are.
    /// - Returns: `false` for any other line, which ``append(line:begins:)`` must check.
    mutating func appendField(_ line: some RandomAccessCollection<UInt8>) -> Bool {
        guard !isComplete, !bytes.isEmpty, let first = line.first, first != UInt8(ascii: "\r"),
            first != UInt8(ascii: "\n"), bytes.count + line.count <= Self.maximumBytes
        else { return false }
        bytes.append(line: line)
        return true
    }

    /// Appends one line, including its line ending.
    /// - Parameter begins: Whether it is a status line. Other lines after a final head are trailers.
    /// - Returns: Whether the line fits.
    mutating func append(line: some RandomAccessCollection<UInt8>, begins: Bool) -> Bool {
        if begins {
            bytes.removeAll(keepingCapacity: true)
            bytes.reserveCapacity(512)
            isComplete = false
            heads += 1
            if hasTooManyHeads { return false }
            readStatus(line)
        } else if hasFinalHead {
            guard trailerBytes.count + line.count <= Self.maximumBytes else { return false }
            trailerBytes.append(line: line)
            return true
        }
        guard bytes.count + line.count <= Self.maximumBytes else { return false }
        bytes.append(line: line)
        if let first = line.first, first == UInt8(ascii: "\r") || first == UInt8(ascii: "\n") {
            if line.allSatisfy({ $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }) { isComplete = true }
        } else if line.isEmpty {
            isComplete = true
        }
        return true
    }

    private static let (switching, expectationFailed) = (Array("101".utf8), Array("417".utf8))

    private mutating func readStatus(_ line: some RandomAccessCollection<UInt8>) {
        isInterim = false
        refusesExpectation = false
        guard let space = line.firstIndex(of: UInt8(ascii: " ")) else { return }
        let code = line[space...].dropFirst().prefix(3)
        // 1xx except 101, after which the protocol changes for good.
        isInterim = code.first == UInt8(ascii: "1") && !code.elementsEqual(Self.switching)
        refusesExpectation = code.elementsEqual(Self.expectationFailed)
    }
}
