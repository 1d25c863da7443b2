/// The streams of one HTTP/2 connection of the peer. Replies are written as for HTTP/1.1: a head becomes a HEADERS
/// frame, what follows becomes DATA frames, and steps may add frames of any kind.
///
/// Requests are recognized without HPACK: `/~~~/q3/` is not compressed, because its Huffman code is longer.
struct PeerStreams {
    /// The start of a client's connection (RFC 9113 §3.4).
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    private static let blankLine = Array("\r\n\r\n".utf8)

    private struct Stream {
        let number: Int
        var steps: [Reply.Step]
        /// Whether the steps wait for the end of the request's body.
        var isHeld: Bool
        /// The bytes of a head whose blank line has not come.
        var head: [UInt8] = []
        var hasHead = false
        var isStalled = false
        /// Bytes that wait for the client's windows.
        var unsent: ArraySlice<UInt8> = []
        var window: Int
    }

    private var streams: [UInt32: Stream] = [:]
    private var unread: [UInt8] = []
    private var window = 65_535
    private var initialWindow = 65_535
    /// The last stream that a GOAWAY frame of the peer accepts.
    private var lastAccepted = UInt32.max
    /// Frames that are due, with the server's settings first: a hundred streams at most.
    private(set) var output = Frame.bytes(4, payload: [0, 3, 0, 0, 0, 100])

    mutating func takeOutput() -> ArraySlice<UInt8> {
        defer { output = [] }
        return output[...]
    }

    /// Whether no request has arrived in part.
    var isIdle: Bool { !streams.values.contains(where: \.isHeld) }
    var hasSteps: Bool { streams.values.contains(where: isReady) }
    /// The requests that have received everything that they will get.
    var waiting: [Int] { streams.values.filter { !$0.isHeld && !$0.isStalled && $0.steps.isEmpty }.map(\.number) }

    private func isReady(_ stream: Stream) -> Bool {
        if !stream.unsent.isEmpty { return min(window, stream.window) > 0 }
        return !stream.isHeld && !stream.steps.isEmpty
    }

    // MARK: What arrives

    mutating func read(_ bytes: some Sequence<UInt8>, _ peer: inout PeerRound, over connection: Int) {
        unread += bytes
        while unread.count >= 9 {
            let length = Frame.number(unread[0..<3])
            guard unread.count >= 9 + length else { return }
            let stream = UInt32(Frame.number(unread[5..<9]) & 0x7FFF_FFFF)
            let payload = Array(unread[9..<(9 + length)])
            read(type: unread[3], flags: unread[4], stream, payload, &peer, over: connection)
            unread.removeFirst(9 + length)
        }
    }

    private mutating func read(
        type: UInt8, flags: UInt8, _ stream: UInt32, _ payload: [UInt8], _ peer: inout PeerRound, over connection: Int
    ) {
        switch type {
        case 0:
            if let number = streams[stream]?.number { peer.seenBody(payload, of: number) }
            // The client may send as much as it wants.
            guard !payload.isEmpty else { break }
            for stream in [0, stream] { output += Frame.bytes(8, stream, payload: Frame.bytes(of: payload.count)) }
        case 1: begin(stream, payload, &peer, over: connection)
        case 3: streams[stream] = nil
        case 4 where flags & 1 == 0:
            for start in stride(from: 0, to: payload.count - 5, by: 6) where payload[start + 1] == 4 {
                let limit = Frame.number(payload[(start + 2)..<(start + 6)])
                for stream in streams.keys { streams[stream]?.window += limit - initialWindow }
                initialWindow = limit
            }
            output += Frame.bytes(4, flags: 1)
        case 6 where flags & 1 == 0: output += Frame.bytes(6, flags: 1, payload: payload)
        case 8 where stream == 0: window += Frame.number(payload[...])
        case 8: streams[stream]?.window += Frame.number(payload[...])
        default: break
        }
        if type < 2, flags & 1 != 0 { streams[stream]?.isHeld = false }
    }

    private mutating func begin(
        _ stream: UInt32, _ block: [UInt8], _ peer: inout PeerRound, over connection: Int
    ) {
        // A block after the first is a request's trailer.
        guard streams[stream] == nil else { return }
        let (number, reply) = peer.seen(block: block, over: connection)
        guard stream <= lastAccepted else { return peer.refuse(number) }
        // The request's body needs no window of the client.
        streams[stream] = Stream(
            number: number, steps: reply.steps, isHeld: !reply.isEarly, window: initialWindow)
    }

    // MARK: What is due

    /// Runs the next step that can run.
    /// - Returns: A step for the whole connection, `.split` after any other; `nil` if there is nothing to do.
    mutating func advance(_ peer: inout PeerRound) -> Reply.Step? {
        guard let id = streams.keys.sorted().first(where: { streams[$0].map(isReady) ?? false }),
            var stream = streams[id]
        else { return nil }
        if !stream.unsent.isEmpty {
            sendData(of: &stream, id)
            streams[id] = stream
            return .bytes([])
        }
        let step = stream.steps.removeFirst()
        let isLast = stream.steps.isEmpty
        streams[id] = stream
        switch step {
        case .bytes(let bytes): send(bytes, id, &peer)
        case .frame(let type, let flags, let isOfConnection, let payload):
            send(type, flags, payload, isOfConnection ? 0 : id, &peer)
        case .goAway(let isBelow):
            send(7, 0, Frame.bytes(of: Int(isBelow ? max(2, id) - 2 : id)) + [0, 0, 0, 0], 0, &peer)
        case .stall:
            streams[id]?.isStalled = true
            streams[id]?.steps = []
            return .bytes([])
        case .cancel: peer.cancel(stream.number)
        case .split, .close, .drop, .reset:
            if isLast, step == .split { end(id) }
            return step
        }
        if isLast { end(id) }
        return .bytes([])
    }

    private mutating func send(_ bytes: [UInt8], _ id: UInt32, _ peer: inout PeerRound) {
        guard var stream = streams[id] else { return }
        peer.replied(bytes[...], to: stream.number)
        let hadHead = stream.hasHead
        if !hadHead { stream.head += bytes }
        var start = max(0, stream.head.count - bytes.count - 3)
        while !stream.hasHead, let end = Text.firstIndex(of: Self.blankLine, in: stream.head, from: start) {
            let (block, isInterim) = Frame.block(ofHead: Array(stream.head[..<end]))
            output += Frame.bytes(1, flags: 4, id, payload: block)
            stream.head.removeFirst(end + Self.blankLine.count)
            (stream.hasHead, start) = (!isInterim, 0)
        }
        guard stream.hasHead else {
            streams[id] = stream
            return
        }
        stream.unsent = (hadHead ? bytes : stream.head)[...]
        stream.head = []
        streams[id] = stream
    }

    private mutating func sendData(of stream: inout Stream, _ id: UInt32) {
        let count = min(stream.unsent.count, window, stream.window, 16_384)
        output += Frame.bytes(0, id, payload: Array(stream.unsent.prefix(count)))
        stream.unsent = stream.unsent.dropFirst(count)
        window -= count
        stream.window -= count
        if stream.unsent.isEmpty, stream.steps.isEmpty { output += Frame.bytes(0, flags: 1, id) }
    }

    /// Ends a stream after its last step; one without a head stays open.
    private mutating func end(_ id: UInt32) {
        guard let stream = streams[id], stream.unsent.isEmpty else { return }
        if stream.hasHead {
            output += Frame.bytes(0, flags: 1, id)
        } else if !stream.head.isEmpty {
            output += Frame.bytes(1, flags: 5, id, payload: Frame.block(ofHead: stream.head).bytes)
        }
    }

    /// Sends any frame, and records which requests it refuses: RST_STREAM with REFUSED_STREAM or HTTP_1_1_REQUIRED, and
    /// GOAWAY, for the streams above its last one.
    private mutating func send(
        _ type: UInt8, _ flags: UInt8, _ payload: [UInt8], _ id: UInt32, _ peer: inout PeerRound
    ) {
        output += Frame.bytes(type, flags: flags, id, payload: payload)
        switch type {
        case 3:
            if [[0, 0, 0, 7], [0, 0, 0, 13]].contains(payload), let number = streams[id]?.number {
                peer.refuse(number)
            }
            streams[id] = nil
        case 7 where payload.count >= 8:
            lastAccepted = min(lastAccepted, UInt32(Frame.number(payload[0..<4]) & 0x7FFF_FFFF))
            for (id, stream) in streams where id > lastAccepted {
                peer.refuse(stream.number)
                streams[id] = nil
            }
        default: break
        }
    }
}

/// HTTP/2's frames (RFC 9113 §4.1).
enum Frame {
    static func bytes(_ type: UInt8, flags: UInt8 = 0, _ stream: UInt32 = 0, payload: [UInt8] = []) -> [UInt8] {
        bytes(of: payload.count).dropFirst() + [type, flags] + bytes(of: Int(stream)) + payload
    }

    static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }

    static func bytes(of number: Int) -> [UInt8] {
        stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    /// Returns the header block of a head in the form of HTTP/1.1, as literals (RFC 7541 §6.2.2).
    static func block(ofHead head: [UInt8]) -> (bytes: [UInt8], isInterim: Bool) {
        var lines = head.split(separator: 0x0A).map { $0.last == 0x0D ? $0.dropLast() : $0 }.filter { !$0.isEmpty }
        let words = lines.isEmpty ? [] : lines.removeFirst().split(separator: 0x20)
        let status = words.count > 1 ? words[1] : []
        var block = literal(":status".utf8, status)
        for line in lines {
            let name = line.prefix { $0 != 0x3A }
            let value = line.dropFirst(name.count + 1).drop { $0 == 0x20 }
            block += literal(name.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, value)
        }
        return (block, status.first == 0x31 && status.count == 3)
    }

    private static func literal(_ name: some Sequence<UInt8>, _ value: some Sequence<UInt8>) -> [UInt8] {
        // Lengths below 127 take one byte.
        let (name, value) = (Array(name).prefix(126), Array(value).prefix(126))
        return [0, UInt8(name.count)] + name + [UInt8(value.count)] + value
    }
}
