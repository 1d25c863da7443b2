import NetworkCore

/// What libcurl reports of one handle and asks about it, always on the loop's thread and inside a call of libcurl. The
/// decisions are those of the type that conforms; nothing in here may remove or close a handle.
protocol EasyEvents: AnyObject {
    /// A lookup begins (CURLOPT_RESOLVER_START_FUNCTION).
    /// - Returns: Whether it may.
    func lookUpBegins() -> Bool
    /// A connection to an address is about to be made (CURLOPT_OPENSOCKETFUNCTION).
    /// - Returns: Whether it may be.
    func mayConnect(to address: SocketAddress) -> Bool
    /// A socket was opened for the connection.
    func socketOpened(_ descriptor: Int32)
    /// No socket could be opened.
    /// - Parameter number: The system's number of the error (errno).
    func socketFailed(_ number: Int32)
    /// libcurl waits for a socket to become ready, or no longer does if `interest` is empty.
    func waits(on descriptor: Int32, for interest: Epoll.Interest)
    /// The request is about to go out (CURLOPT_PREREQFUNCTION).
    /// - Returns: Whether it may.
    func mayGoOut(over ends: ConnectionEnds) -> Bool
    /// libcurl wants bytes of the request's body (CURLOPT_READFUNCTION).
    func bodyWanted(_ room: inout BorrowedRoom) -> Sending
    /// One line of a head or a trailer, with its line ending (CURLOPT_HEADERFUNCTION).
    /// - Returns: Whether to continue.
    func headerArrived(_ line: BorrowedBytes) -> Bool
    /// At most 16 KiB of the body, without transfer coding and before content decoding (CURLOPT_WRITEFUNCTION).
    func bodyArrived(_ piece: BorrowedBytes) -> Receiving
    /// libcurl has made progress, or looked for some (CURLOPT_XFERINFOFUNCTION).
    /// - Parameter moved: The number of bytes of both bodies that have moved.
    /// - Returns: Whether to continue.
    func progresses(moved: Int) -> Bool
    /// libcurl has written a line to its log (CURLOPT_DEBUGFUNCTION).
    func logged(_ line: BorrowedBytes)
}

/// What libcurl is told when it asks for bytes of a body.
enum Sending {
    /// The bytes are in the buffer; none is the end.
    case filled
    /// There are none yet.
    case pause
    /// The transfer ends.
    case stop
}

/// What libcurl is told when it delivers bytes of a body.
enum Receiving {
    /// They were taken.
    case taken
    /// The transfer pauses, and the same bytes come again.
    case pause
    /// The transfer ends.
    case stop
}

/// The result of reading a body.
enum BodyReading {
    /// The room has bytes; none is the end.
    case filled
    /// There are no bytes yet.
    case pause
    case failure(any Error)
}

/// The body of a request, which libcurl reads from a position on.
protocol EasyBody: AnyObject {
    /// The number of bytes that libcurl has been given.
    var position: Int { get }
    /// When libcurl was given the last byte; `nil` before.
    var delivered: MonotonicTime? { get }
    /// The lines of the trailer fields, once the body has ended; `nil` if none can follow it.
    var trailerLines: [String]? { get }
    /// Returns whether libcurl has been given the whole body and has sent that many bytes.
    func isWhole(sent: Int) -> Bool
    /// Fills the room as far as there are bytes.
    func read(into room: inout BorrowedRoom) -> BodyReading
    /// Moves to a position (CURLOPT_SEEKFUNCTION).
    /// - Returns: Whether that is possible.
    func seek(to position: Int) -> Bool
}
