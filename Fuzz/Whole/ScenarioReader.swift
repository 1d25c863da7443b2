/// Reads a scenario from any bytes: lines with a keyword and its arguments. Lines that can't be read are skipped.
struct ScenarioReader {
    /// The largest reply, in bytes.
    static let maximumReplyBytes = 8 << 20
    /// The most pieces of one reply.
    static let maximumSplits = 48

    private let peer: PeerAddress
    private var scenario = Scenario()
    private var replyBytes = 0
    private var splits = 0

    static func read(_ input: some Sequence<UInt8>, peer: PeerAddress) -> Scenario {
        var reader = ScenarioReader(peer: peer)
        for line in Array(input).split(separator: 0x0A) { reader.read(line) }
        return reader.scenario
    }

    private init(peer: PeerAddress) { self.peer = peer }

    private mutating func read(_ line: ArraySlice<UInt8>) {
        let end = line.firstIndex(of: 0x20) ?? line.endIndex
        let rest = line[end...].dropFirst()
        let keyword = String(decoding: line[..<end], as: UTF8.self)
        switch keyword {
        case "ask": ask(words(of: rest))
        case "reply": reply(words(of: rest))
        default: if let ask = scenario.asks.indices.last { readStep(keyword, rest, of: ask) }
        }
    }

    private func words(of line: ArraySlice<UInt8>) -> [String] {
        line.split(separator: 0x20).map { String(decoding: $0, as: UTF8.self) }
    }

    private mutating func ask(_ words: [String]) {
        guard scenario.asks.count < Scenario.maximumAsks else { return }
        var ask = Ask(method: words.first.flatMap { Self.methods.contains($0) ? $0 : nil } ?? "GET")
        for word in words.dropFirst() {
            let parts = word.split(separator: "=", maxSplits: 1)
            guard let name = parts.first else { continue }
            ask.words[String(name)] = parts.count > 1 ? String(parts[1]) : ""
        }
        scenario.asks.append(ask)
    }

    private static let methods = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"]

    private mutating func reply(_ words: [String]) {
        let ask = scenario.asks.count - 1
        guard ask >= 0, scenario.asks[ask].replies.count < Ask.maximumReplies else { return }
        (replyBytes, splits) = (0, 0)
        scenario.asks[ask].replies.append(Reply(isEarly: words.contains("early")))
    }

    private mutating func readStep(_ keyword: String, _ rest: ArraySlice<UInt8>, of ask: Int) {
        switch keyword {
        case "split": add(.split)
        case "close": add(.close)
        case "drop": add(.drop)
        case "reset": add(.reset)
        case "stall": add(.stall)
        case "cancel": add(.cancel)
        case "goaway": add(.goAway(isBelow: words(of: rest).contains("below")))
        case "rst":
            let code = Int(words(of: rest).first ?? "") ?? 0
            add(.frame(type: 3, flags: 0, isOfConnection: false, payload: Frame.bytes(of: code)))
        case "frame", "frame0":
            let parts = rest.split(separator: 0x20, maxSplits: 2)
            let numbers = parts.prefix(2).map { UInt8(String(decoding: $0, as: UTF8.self)) ?? 0 }
            guard numbers.count == 2 else { return }
            let payload = expanded(parts.count > 2 ? Array(parts[2]) : [], of: ask)
            let isOfConnection = keyword == "frame0"
            add(.frame(type: numbers[0], flags: numbers[1], isOfConnection: isOfConnection, payload: payload))
        case "each": split(into: Int(words(of: rest).first ?? "") ?? 1)
        default: if let bytes = bytes(keyword, rest, of: ask) { add(bytes) }
        }
    }

    /// Returns the bytes of a keyword; `nil` for an unknown keyword.
    private func bytes(_ keyword: String, _ rest: ArraySlice<UInt8>, of ask: Int) -> [UInt8]? {
        let words = words(of: rest)
        switch keyword {
        case "raw": return expanded(rest, of: ask)
        case "line": return expanded(rest, of: ask) + [0x0D, 0x0A]
        case "head": return expanded(Array("HTTP/1.1 ".utf8) + rest, of: ask) + expanded("\r\nX-For: {i}\r\n", of: ask)
        case "end": return [0x0D, 0x0A]
        case "body": return Payload.bytes(words.first ?? "0")
        case "sized":
            let body = Payload.bytes(words.first ?? "0")
            return Array("Content-Length: \(body.count)\r\n\r\n".utf8) + body
        case "chunk":
            let body = Payload.bytes(words.first ?? "0")
            let size = words.dropFirst().first ?? String(body.count, radix: 16)
            return Text.bytes(of: Array(size.utf8)[...]) + [0x0D, 0x0A] + body + [0x0D, 0x0A]
        case "last": return Array("0\r\n\r\n".utf8)
        default: return nil
        }
    }

    private func expanded(_ text: String, of ask: Int) -> [UInt8] { expanded(Array(text.utf8), of: ask) }

    /// Replaces `{i}`, `{a}` and `{b}`: the number of the request, its URL on the first origin and on the second one.
    private func expanded(_ line: some Collection<UInt8>, of ask: Int) -> [UInt8] {
        var bytes = Text.bytes(of: Array(line)[...])
        guard bytes.contains(UInt8(ascii: "{")) else { return bytes }
        bytes = Text.replacing("{i}", by: "\(ask)", in: bytes)
        bytes = Text.replacing("{a}", by: peer.url(of: ask, at: .first), in: bytes)
        return Text.replacing("{b}", by: peer.url(of: ask, at: .second), in: bytes)
    }

    private mutating func add(_ bytes: [UInt8]) {
        let bytes = Array(bytes.prefix(Self.maximumReplyBytes - replyBytes))
        replyBytes += bytes.count
        withReply { reply in
            guard case .bytes(let before)? = reply.steps.last else { return reply.steps.append(.bytes(bytes)) }
            reply.steps[reply.steps.count - 1] = .bytes(before + bytes)
        }
    }

    private mutating func add(_ step: Reply.Step) {
        if step == .split { splits += 1 }
        guard splits < Self.maximumSplits else { return }
        withReply { $0.steps.append(step) }
    }

    /// Splits the bytes of the reply so far into pieces of the given size.
    private mutating func split(into size: Int) {
        let (size, most) = (max(1, size), Self.maximumSplits - splits)
        var made = 0
        withReply { reply in
            guard case .bytes(let bytes)? = reply.steps.popLast() else { return }
            var rest = bytes[...]
            while rest.count > size, made < most {
                reply.steps += [.bytes(Array(rest.prefix(size))), .split]
                rest = rest.dropFirst(size)
                made += 1
            }
            reply.steps.append(.bytes(Array(rest)))
        }
        splits += made
    }

    /// Changes the last reply of the last request, and creates it if there is none.
    private mutating func withReply(_ body: (inout Reply) -> Void) {
        let ask = scenario.asks.count - 1
        if scenario.asks[ask].replies.isEmpty { scenario.asks[ask].replies.append(Reply()) }
        body(&scenario.asks[ask].replies[scenario.asks[ask].replies.count - 1])
    }
}
