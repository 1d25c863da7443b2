import Dispatch
import Foundation

/// Runs one script on one connection, on its own thread.
struct ScriptedConnection {
    let socket: LoopbackSocket
    let number: Int
    let log: ScriptedLog

    /// What ended the connection.
    private enum End {
        /// The script: all bytes arrive.
        case script
        /// The script, by a reset.
        case reset
        case peer
    }

    func run(_ script: Script) {
        var reader = RequestReader(socket)
        let end = run(script.steps, reader: &reader)
        if end == .script { linger() }
        // A step that gave up after its minute is no end by the client.
        log.remove(number, endedByPeer: end == .peer && socket.isEndedByPeer)
        socket.close()
    }

    /// Runs steps until one of them ends the connection; returns `nil` if all have run.
    private func run(_ steps: [Script.Step], reader: inout RequestReader) -> End? {
        for step in steps {
            switch step.kind {
            case .read: if let end = read(&reader) { return end }
            case .readHead: guard readHead(&reader) else { return .peer }
            case .readBody(var count, let size, let pause):
                while count > 0 {
                    guard let piece = reader.readPiece(upTo: min(count, size)) else { return .peer }
                    count -= piece
                    if pause > .zero { wait(for: pause) }
                }
            case .send(let bytes): guard socket.send(bytes) else { return .peer }
            case .sendSplit(let bytes, let size, let pause):
                for start in stride(from: bytes.startIndex, to: bytes.endIndex, by: size) {
                    guard socket.send(Data(bytes[start..<min(start + size, bytes.endIndex)])) else { return .peer }
                    wait(for: pause)
                }
            case .flood(let bytes):
                while socket.send(bytes) {}
                return .peer
            case .pause(let time): socket.pause(milliseconds: Self.milliseconds(time))
            case .wait(let gate): wait(until: gate)
            case .open(let gate): gate.open()
            case .stall:
                while socket.receive() != nil {}
                return .peer
            case .close: return .script
            case .reset:
                socket.resetOnClose()
                return .reset
            case .forEachRequest(let steps):
                while true { if let end = read(&reader) ?? run(steps, reader: &reader) { return end } }
            case .serve(let respond):
                while respond(self, &reader) {}
                return .script
            }
        }
        return nil
    }

    /// Records a request, and returns which side ended the connection within it; `nil` while it goes on.
    private func read(_ reader: inout RequestReader) -> End? {
        guard let head = reader.readHead() else { return .peer }
        var body = Data()
        let end = reader.readBody(of: head) { body.append($0) }
        guard end != .cut else { return .peer }
        log.add(ReceivedRequest(head: head, body: body, connection: number))
        return end == .complete ? nil : .script
    }

    private func readHead(_ reader: inout RequestReader) -> Bool {
        guard let head = reader.readHead() else { return false }
        log.add(ReceivedRequest(head: head, body: Data(), connection: number))
        return true
    }

    /// Waits the given time, or until the gate is open or the server has stopped.
    func wait(until gate: Gate? = nil, for time: Duration = .seconds(60)) {
        let signal = DispatchSemaphore(value: 0)
        let atGate = gate?.whenOpen { signal.signal() }
        let atStop = log.whenStopped { signal.signal() }
        defer {
            if let gate, let atGate { gate.forget(atGate) }
            log.forget(atStop)
        }
        _ = signal.wait(timeout: .now() + .milliseconds(Int(Self.milliseconds(time))))
    }

    private static func milliseconds(_ time: Duration) -> Int32 {
        Int32(max(.zero, min(time, .milliseconds(LoopbackSocket.longestWait))) / .milliseconds(1))
    }

    /// Reads until the peer closes: a close with unread input sends RST, which can overtake the response.
    private func linger() {
        socket.finishSending()
        while socket.isReady(for: LoopbackSocket.input, limit: 50), socket.receive() != nil {}
    }
}
