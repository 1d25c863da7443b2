/// One connection of the peer: reads requests, and runs the steps of their replies.
struct PeerConnection {
    let socket: PeerSocket
    private let number: Int
    private var reader = RequestReader()
    private var steps: [Reply.Step] = []
    private var unsent: ArraySlice<UInt8> = []
    /// The streams, after the preface of HTTP/2.
    private var streams: PeerStreams?
    /// The number of the request that is in progress, or was the last.
    private var current: Int?
    private var pending: Reply?
    private var hasFinished = false
    private var isStalled = false
    /// Whether the descriptor is closed.
    private(set) var isOver = false

    init(_ socket: PeerSocket, number: Int) { (self.socket, self.number) = (socket, number) }

    var wantsToSend: Bool { !unsent.isEmpty || !steps.isEmpty || (!hasFinished && streams?.hasSteps ?? false) }
    /// Whether there is nothing to do until the client acts.
    var isQuiet: Bool { isOver || !wantsToSend }

    /// The requests whose clients have received everything that they will get, and may wait for more.
    var waiting: [Int] {
        if hasFinished || isStalled || wantsToSend || isOver { return [] }
        return streams?.waiting ?? current.map { [$0] } ?? []
    }
    /// Whether a request has arrived in part.
    var isReading: Bool { (!reader.isIdle || !(streams?.isIdle ?? true)) && !isStalled }

    mutating func read(_ peer: inout PeerRound) {
        while !isOver {
            switch socket.receive() {
            case .nothing: return advance(&peer)
            case .end: return close()
            case .bytes(var bytes):
                if streams == nil, current == nil, reader.isIdle, bytes.starts(with: PeerStreams.preface) {
                    streams = PeerStreams()
                    bytes.removeFirst(PeerStreams.preface.count)
                }
                if streams != nil {
                    streams?.read(bytes, &peer, over: number)
                } else {
                    reader.append(bytes)
                }
                advance(&peer)
            }
        }
    }

    /// Reads the data that has arrived, and sends the bytes that are due, as far as possible.
    mutating func advance(_ peer: inout PeerRound) {
        if streams != nil { return advanceStreams(&peer) }
        while !isOver {
            send(&peer)
            guard !isOver, pending != nil || !wantsToSend, let event = reader.next() else { return }
            handle(event, &peer)
        }
    }

    private mutating func advanceStreams(_ peer: inout PeerRound) {
        while !isOver {
            if !unsent.isEmpty {
                guard let count = socket.send(unsent) else { return close() }
                unsent = unsent.dropFirst(count)
                if !unsent.isEmpty { return }
            }
            var step: Reply.Step? = .bytes([])
            while step == .bytes([]) { step = hasFinished ? nil : streams?.advance(&peer) }
            unsent = streams?.takeOutput() ?? []
            if let step, step != .split, !unsent.isEmpty {
                // What is due goes before the connection's end.
                _ = socket.send(unsent)
                unsent = []
            }
            if let step { take(step, &peer) } else if unsent.isEmpty { return }
        }
    }

    private mutating func handle(_ event: RequestReader.Event, _ peer: inout PeerRound) {
        switch event {
        case .head(let head):
            let (request, reply, expectsContinue) = peer.seen(head, over: number)
            current = request
            // The client treated the response as complete; otherwise it would not send another request on this
            // connection.
            isStalled = false
            if reply.isEarly {
                steps += reply.steps
                pending = Reply()
            } else {
                if expectsContinue { steps.append(.bytes(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))) }
                pending = reply
            }
        case .body(let bytes):
            if let current { peer.seenBody(bytes, of: current) }
        case .end:
            steps += pending?.steps ?? []
            pending = nil
        }
    }

    private mutating func send(_ peer: inout PeerRound) {
        while !isOver, !isStalled {
            if !unsent.isEmpty {
                if let current, pending == nil, socket.hasWaiting { peer.crosses(current) }
                guard let count = socket.send(unsent) else { return close() }
                if let current { peer.replied(unsent.prefix(count), to: current) }
                unsent = unsent.dropFirst(count)
                if !unsent.isEmpty { return }
                continue
            }
            guard !steps.isEmpty else { return }
            take(steps.removeFirst(), &peer)
        }
    }

    private mutating func take(_ step: Reply.Step, _ peer: inout PeerRound) {
        switch step {
        case .bytes(let bytes): if !hasFinished { unsent = bytes[...] }
        case .split: PeerSocket.pause()
        case .close: finish()
        case .drop: close()
        case .reset: close(withReset: true)
        case .stall:
            isStalled = true
            steps = []
        case .cancel: if let current { peer.cancel(current) }
        case .frame, .goAway: break
        }
    }

    /// Shuts down the sending direction.
    mutating func finish() {
        guard !hasFinished, !isOver else { return }
        hasFinished = true
        socket.finishSending()
    }

    mutating func close(withReset: Bool = false) {
        guard !isOver else { return }
        isOver = true
        (steps, unsent) = ([], [])
        socket.close(withReset: withReset)
    }
}
