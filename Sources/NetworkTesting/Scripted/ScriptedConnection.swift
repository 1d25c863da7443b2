import Dispatch
import Foundation

/// One connection, on its own thread.
struct ScriptedConnection {
    let socket: LoopbackSocket
    let number: Int
    let log: ScriptedLog
    var reader: RequestReader

    init(socket: LoopbackSocket, number: Int, log: ScriptedLog) {
        (self.socket, self.number, self.log, reader) = (socket, number, log, RequestReader(socket))
    }

    /// What ended the connection.
    enum End {
        /// The script: all bytes arrive.
        case script
        /// The script, by a reset.
        case reset
        case peer
    }

    /// Runs a script, and closes the connection.
    mutating func run(_ script: Script) {
        let end = run(script.steps)
        if end == .script { linger() }
        // A step that gave up after its minute is no end by the client.
        log.remove(number, endedByPeer: end == .peer && socket.isEndedByPeer)
        socket.close()
    }

    /// Runs steps until one of them ends the connection; returns `nil` if all have run.
    mutating func run(_ steps: [Script.Step]) -> End? {
        for step in steps { if let end = step.run(&self) { return end } }
        return nil
    }

    /// Records a request, and returns which side ended the connection within it; `nil` while it goes on.
    mutating func read() -> End? {
        guard let head = reader.readHead() else { return .peer }
        var body = Data()
        let end = reader.readBody(of: head) { body.append($0) }
        guard end != .cut else { return .peer }
        log.add(ReceivedRequest(head: head, body: body, trailerLines: reader.trailerLines, connection: number))
        return end == .complete ? nil : .script
    }

    mutating func readHead() -> Bool {
        guard let head = reader.readHead() else { return false }
        log.add(ReceivedRequest(head: head, body: Data(), connection: number))
        return true
    }

    /// Waits the given time, or until the gate is open or the server has stopped.
    @discardableResult
    func wait(until gate: Gate? = nil, for time: Duration = .seconds(60)) -> End? {
        let signal = DispatchSemaphore(value: 0)
        let atGate = gate?.whenOpen { signal.signal() }
        let atStop = log.whenStopped { signal.signal() }
        defer {
            if let gate, let atGate { gate.forget(atGate) }
            log.forget(atStop)
        }
        _ = signal.wait(timeout: .now() + .milliseconds(Int(Self.milliseconds(time))))
        return nil
    }

    /// Waits the given time, or until the peer sends or closes.
    func waitForInput(_ time: Duration) -> End? {
        _ = socket.isReady(for: LoopbackSocket.input, limit: Self.milliseconds(time))
        return nil
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
