import NetworkCore

/// What the loop knows of a transfer from its arrival to its end.
struct TransferState {
    /// The transfer's index in the loop's table; -1 outside it.
    var slot = -1
    var life = TransferLife.outside
    var clocks: TransferClocks
    var response: ResponseState
    /// How often the request went out.
    var sending: SendingRecord
    /// The present run in libcurl, or the next one.
    var run = TransferRun()
    /// The plan of a request that the server wants over HTTP/1.1, in place of the sender's.
    var http1Plan: Plan?
    /// Whether the request goes out without its `Expect`, which the server has refused.
    var dropsExpectation = false
    /// Whether the next run must open a new connection.
    var needsNewConnection = false
    /// How often the transfer has begun again.
    var begunAgain = 0
    /// The number of bytes of the request that have gone out in the runs before this one.
    var sentEarlier = 0
    /// Whether the caller has received the response's head.
    var hasHandedOutHead = false
    /// What happens to a body that is not read.
    var whenFull: BodyFlow.WhenFull
    /// The number of bytes of a discarded body that have come since.
    var drained = 0
    /// Whether there is something to deliver at the end of the round.
    var isTouched = false
    /// The loop, while it has the transfer.
    var delegate: (any TransferDelegate)?

    init(
        clocks: TransferClocks, response: ResponseState, sending: SendingRecord, whenFull: BodyFlow.WhenFull
    ) {
        (self.clocks, self.response, self.sending, self.whenFull) = (clocks, response, sending, whenFull)
    }
}

/// One run of a transfer in libcurl: a handle, and what is true of it alone. Each run begins with a new value.
struct TransferRun {
    /// The handle, from ``Transfer/prepare(at:)`` to ``Transfer/releaseHandle()``.
    var easy: EasyHandle?
    /// The place of the connections that the handle uses.
    var destination: Destination?
    /// The pool whose libcurl has the handle.
    var pool: Pool?
    var lookUp = LookUp()
    /// What the proxy has sent before the tunnel is open.
    var tunnelResponse = TunnelResponse()
    /// The sockets that the run has opened, one of which may become its connection.
    var openedSockets: [Int32] = []
    /// The last address that the address policy refused.
    var refusedAddress: AddressPolicy.Address?
    /// Why no socket could be opened: the errno.
    var socketFailure: Int32?
    /// The opened socket that became the connection.
    var connection: Int32?
    /// Whether the ends of the TLS connection have agreed upon HTTP/1, or upon nothing, which is the same.
    var hasHTTP1Connection = false
    /// The connection's TLS parameters, once the response has begun.
    var tlsSession: TLSSession?
    /// The socket that libcurl waits on, for a transfer with a body.
    var sendingSocket: Int32?
    /// What libcurl last wanted of which socket, for a transfer with a body.
    var wanted: (socket: Int32, interest: Epoll.Interest)?
    /// Whether libcurl holds back the response's body, since a callback has paused it.
    var isHeldBack = false
    /// Whether libcurl has requested the body since the request last went out.
    var isBodyWanted = false
    /// Whether libcurl paused the transfer while it holds bytes to send.
    var keepsBytes = false
    /// What had gone out at the last pause of a body of unknown length.
    var sentAtPause: (uploaded: Int, queued: Int)?
    /// Whether the transfer was paused to let others run.
    var isYielding = false
    /// Whether libcurl has reported success.
    var hasEndedWell = false
}
