// Fuzzes the parsers of bytes from outside and the bookkeeping of events with libFuzzer: scripts/fuzz.
import FoundationEssentials
import HTTPTypes

@testable import CurlTransport
@testable import NetworkCore

/// The entry point of the program, with the name that the package manager links as `main`, in place of libFuzzer's own.
@_cdecl("fuzz_main")
public func fuzzMain(
    _ count: CInt,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> CInt {
    var (count, arguments) = (count, arguments)
    return runDriver(&count, &arguments, fuzzOneInput)
}

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ callback: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// The entry point for libFuzzer. The first byte selects the subject. A trap, a failed precondition or a sanitizer's
/// report is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = Array(UnsafeBufferPointer(start: start, count: count))[...]
    switch input.popFirst().map({ $0 % 7 }) {
    case 0: fuzzHead(Array(input))
    case 1: fuzzURL(String(decoding: input, as: UTF8.self))
    case 2: fuzzAdmission(input)
    case 3: fuzzSockets(input)
    case 4: fuzzFlows(input)
    case 5: fuzzCookies(String(decoding: input, as: UTF8.self))
    case 6: fuzzDecoding(input)
    default: break
    }
    return 0
}

/// Tests the header lines as libcurl delivers them, and then the head that they form.
private func fuzzHead(_ bytes: [UInt8]) {
    var buffer = ResponseHeadBuffer()
    for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
        guard buffer.append(line: Array(line) + [0x0A], begins: line.starts(with: "HTTP/".utf8)) else { break }
    }
    _ = try? ResponseHeadParser.parse(buffer.bytes)
    _ = try? ResponseHeadParser.parse(bytes)
    _ = ResponseHeadParser.parseTrailers(bytes)
}

/// Tests that an accepted URL is pure ASCII and stays the same when it is parsed again.
private func fuzzURL(_ text: String) {
    fuzzReference(text)
    guard let url = try? RequestURL(text) else { return }
    precondition(url.absoluteString.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "not pure ASCII")
    precondition((try? RequestURL(url.absoluteString)) == url, "not the same when parsed again")
}

/// Tests that an encoded body decodes to the same bytes whole and in two pieces, and that no decoded piece is too
/// large. The first byte selects the encodings and the split.
private func fuzzDecoding(_ input: ArraySlice<UInt8>) {
    guard let choice = input.first else { return }
    let packed = Data(input.dropFirst())
    func decoded(splitAt split: Int) -> Data? {
        let outer = Inflater(choice & 1 == 0 ? .gzip : .deflate)
        let decoders: [(String, any ContentDecoder)] = [("outer", outer)]
        var chain = DecodingChain(choice & 2 == 0 ? decoders : decoders + [("inner", Inflater(.gzip))])
        var body = Data()
        do {
            for piece in [packed.prefix(split), packed.dropFirst(split)] where !piece.isEmpty {
                chain.append(Data(piece))
                var isHungry = false
                while !isHungry {
                    switch try chain.step() {
                    case .piece(let next):
                        precondition(!next.isEmpty && next.count <= DecodingChain.pieceBytes, "a piece is too large")
                        body += next
                        if body.count > 1 << 24 { return nil }
                    case .noOutput: break
                    case .needsInput: isHungry = true
                    }
                }
            }
            try chain.end()
            return body
        } catch {
            return nil
        }
    }
    let whole = decoded(splitAt: 0)
    precondition(whole == decoded(splitAt: packed.count * Int(choice >> 2) / 64), "the split changes the body")
}

/// Tests arrivals, ends and withdrawals: no request runs twice, no request is lost, no limit is exceeded.
private func fuzzAdmission(_ input: ArraySlice<UInt8>) {
    var admission = Admission(perOrigin: 3, inAll: 5, maximumQueued: 20)
    let origins = (0..<3).map { Origin(isSecure: false, host: "h\($0)", port: 80) }
    var running: [Int: Origin] = [:]
    var waiting: [Int: Origin] = [:]
    var lookingUp: [Int: Origin] = [:]
    func begin(_ turn: Admission.Turn, at origin: Origin) {
        running[turn.slot] = origin
        if turn.isLookingUp { lookingUp[turn.slot] = origin }
    }
    func start(_ turns: [Admission.Turn]) {
        for turn in turns {
            guard let origin = waiting.removeValue(forKey: turn.slot) else {
                preconditionFailure("started without waiting")
            }
            begin(turn, at: origin)
        }
    }
    for (slot, byte) in input.enumerated() {
        let origin = origins[Int(byte >> 2) % 3]
        switch byte & 3 {
        case 0:
            switch admission.arrive(slot, at: origin) {
            case .run(let turn): begin(turn, at: origin)
            case .wait: waiting[slot] = origin
            case .refused: precondition(waiting.count == 20)
            }
        case 1:
            guard let (slot, origin) = lookingUp.min(by: { $0.key < $1.key }) else { continue }
            lookingUp[slot] = nil
            start(admission.resolved(origin))
        case 2:
            guard let (slot, origin) = running.min(by: { $0.key < $1.key }) else { continue }
            running[slot] = nil
            start(admission.leave(origin, isLookingUp: lookingUp.removeValue(forKey: slot) != nil))
        default:
            guard let (slot, origin) = waiting.max(by: { $0.key < $1.key }) else { continue }
            waiting[slot] = nil
            start(admission.withdraw(slot, from: origin))
        }
        precondition(running.count <= 5 && admission.waiting == waiting.count)
        precondition(admission.lookingUp == lookingUp.count)
        for origin in origins { precondition(running.values.filter { $0 == origin }.count <= 3) }
    }
}

/// Tests opened, wanted and closed sockets: the changes sent to epoll always match a model of epoll.
private func fuzzSockets(_ input: ArraySlice<UInt8>) {
    var sockets = SocketInterests()
    var registered: [Int32: Epoll.Interest] = [:]
    func apply(_ change: SocketInterests.Change) {
        switch change.kind {
        case .add:
            precondition(registered.updateValue(change.interest, forKey: change.descriptor) == nil, "added twice")
        case .modify:
            precondition(registered.updateValue(change.interest, forKey: change.descriptor) != nil, "not there")
        case .delete: precondition(registered.removeValue(forKey: change.descriptor) != nil, "deleted twice")
        }
    }
    for byte in input {
        let descriptor = Int32(byte >> 4)
        switch byte & 7 {
        case 0:
            registered[descriptor] = nil
            sockets.closed(descriptor)
        case 1:
            registered[descriptor] = nil
            sockets.opened(descriptor)
        case 2: sockets.takeChanges(apply)
        default:
            if let change = sockets.want(.init(rawValue: byte & 3), of: descriptor) { apply(change) }
        }
    }
    sockets.takeChanges(apply)
    for (descriptor, interest) in registered {
        precondition((sockets.pool(wanting: descriptor) != nil) == !interest.isEmpty)
    }
}

/// Tests the flow of a body: the bytes received are read, held or dropped, and a paused sender is always resumed.
private func fuzzFlows(_ input: ArraySlice<UInt8>) {
    var flow = BodyFlow()
    var isStopped = false
    for byte in input {
        switch byte & 3 {
        case 0, 1:
            if isStopped || flow.hasEnded { continue }
            isStopped = flow.arrived(Int(byte) * 1_024, whenFull: .pause()) == .pause
        case 2:
            let (_, resumes) = flow.read()
            precondition(resumes == isStopped, "a paused sender was not resumed, or a running one was")
            isStopped = false
        default: _ = flow.roundEnded()
        }
        precondition(flow.isPaused == isStopped)
        precondition(flow.held <= BodyFlow.highMark + 255 * 1_024)
    }
}
