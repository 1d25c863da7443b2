public import Foundation
public import NetworkCore

/// The steps that ``ScriptedServer`` runs on one connection, in order. Then the server closes the connection.
///
/// ```swift
/// let server = try ScriptedServer([.read, .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel"), .reset])
/// ```
public struct Script: Sendable, ExpressibleByArrayLiteral, SafelyPrinted {
    /// The steps, in order.
    public var steps: [Step]

    /// Creates a script from an array of steps.
    public init(_ steps: [Step]) { self.steps = steps }

    /// Creates a script from an array literal of steps.
    public init(arrayLiteral elements: Step...) { steps = elements }

    /// The steps.
    public var description: String { "\(steps)" }

    /// One step.
    public struct Step: Sendable, SafelyPrinted {
        /// The step and the number of bytes it sends.
        public let description: String
        /// Runs the step, and returns what ended the connection; `nil` while it goes on.
        let run: @Sendable (inout ScriptedConnection) -> ScriptedConnection.End?

        init(
            _ description: String, _ run: @escaping @Sendable (inout ScriptedConnection) -> ScriptedConnection.End?
        ) {
            (self.description, self.run) = (description, run)
        }

        /// Reads one request, head and body, and records it. If the length of the body is not a number, the start of
        /// the next request is unknown: the step records the part of the body that it read, and closes the connection.
        public static let read = Step("read") { $0.read() }
        /// Reads and records the head of one request, and leaves its body unread.
        public static let readHead = Step("readHead") { $0.readHead() ? nil : .peer }
        /// Reads a number of bytes after a head, as they are on the wire, in pieces with a pause after each. A client
        /// notices a slow reader only if little data is in flight: see ``ScriptedServer/init(scripts:segment:)``.
        /// - Parameters:
        ///   - count: The number of bytes.
        ///   - size: The largest size of a piece in bytes, at least 1. Default: 65,536.
        ///   - pause: The pause after each piece. Default: none.
        public static func readBody(_ count: Int, each size: Int = 65_536, pause: Duration = .zero) -> Step {
            Step("readBody \(count) each \(max(1, size)) pause \(pause)") { connection in
                var left = count
                while left > 0 {
                    guard let piece = connection.reader.readPiece(upTo: min(left, max(1, size))) else { return .peer }
                    left -= piece
                    if pause > .zero { connection.wait(for: pause) }
                }
                return nil
            }
        }
        /// Sends bytes.
        public static func send(_ bytes: Data) -> Step {
            Step("send \(bytes.count) bytes") { $0.socket.send(bytes) ? nil : .peer }
        }
        /// Sends a string as UTF-8.
        public static func send(_ text: String) -> Step { send(Data(text.utf8)) }
        /// Sends bytes in pieces, with a short pause after each so that most of them arrive as separate pieces.
        /// - Parameters:
        ///   - bytes: The bytes to send.
        ///   - size: The size of a piece in bytes, at least 1.
        ///   - pause: The pause after each piece. Default: 1 ms.
        public static func sendSplit(_ bytes: Data, each size: Int, pause: Duration = .milliseconds(1)) -> Step {
            let size = max(1, size)
            return Step("sendSplit \(bytes.count) bytes each \(size) pause \(pause)") { connection in
                for start in stride(from: bytes.startIndex, to: bytes.endIndex, by: size) {
                    let piece = Data(bytes[start..<min(start + size, bytes.endIndex)])
                    guard connection.socket.send(piece) else { return .peer }
                    connection.wait(for: pause)
                }
                return nil
            }
        }
        /// Sends the same bytes repeatedly until the peer or the server closes the connection.
        public static func flood(_ bytes: Data) -> Step {
            Step("flood \(bytes.count) bytes") { connection in
                while connection.socket.send(bytes) {}
                return .peer
            }
        }
        /// Waits the given time, at most a minute, or until the peer sends or closes.
        public static func pause(_ time: Duration) -> Step { Step("pause \(time)") { $0.waitForInput(time) } }
        /// Waits until a gate is open, at most one minute.
        public static func wait(until gate: Gate) -> Step { Step("wait") { $0.wait(until: gate) } }
        /// Opens a gate, so that a test can wait until the script has reached this step.
        public static func open(_ gate: Gate) -> Step {
            Step("open") { _ in
                gate.open()
                return nil
            }
        }
        /// Reads and discards input, and sends nothing, until the peer or the server closes the connection.
        public static let stall = Step("stall") { connection in
            while connection.socket.receive() != nil {}
            return .peer
        }
        /// Closes the connection in order, so that everything sent arrives: reads what the peer still sends, until it
        /// closes or pauses for 50 ms.
        public static let close = Step("close") { _ in .script }
        /// Closes the connection with RST, which the peer sees as a broken connection.
        public static let reset = Step("reset") { connection in
            connection.socket.resetOnClose()
            return .reset
        }
        /// Reads a request and runs the steps, repeatedly, until the peer closes: a kept-alive connection.
        public static func forEachRequest(_ steps: [Step]) -> Step {
            Step("forEachRequest \(steps)") { connection in
                while true { if let end = connection.read() ?? connection.run(steps) { return end } }
            }
        }
    }
}

extension Script {
    /// Returns a script that sends the same response to every request and keeps the connection.
    /// - Parameters:
    ///   - status: The status code. Default: 200.
    ///   - fields: Header fields in addition to `Content-Length`.
    ///   - body: The body. Default: empty.
    public static func response(_ status: Int = 200, fields: [(String, String)] = [], body: Data = Data()) -> Script {
        [.forEachRequest([.send(head(status, fields: fields + [("Content-Length", "\(body.count)")]) + body)])]
    }

    /// Returns a script that responds to every request with 200 and a text, and keeps the connection.
    public static func ok(_ body: String = "", fields: [(String, String)] = []) -> Script {
        response(fields: fields, body: Data(body.utf8))
    }

    /// Returns a script that reads one request, sends a text unchanged, and closes.
    public static func raw(_ text: String) -> Script { [.read, .send(text), .close] }

    /// Returns a script that reads one request, sends bytes unchanged, and closes.
    public static func raw(_ bytes: Data) -> Script { [.read, .send(bytes), .close] }

    /// Reads one request and closes without a response.
    public static let closed: Script = [.read, .close]

    /// Reads one request and resets the connection without a response.
    public static let reset: Script = [.read, .reset]

    /// Reads one request and never responds.
    public static let stalled: Script = [.read, .stall]

    /// Reads one request, announces a body of 100 bytes, sends 10 of them and closes.
    public static let truncated = raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789")

    /// Reads one request, sends one chunk of 10 bytes and closes without the last chunk.
    public static let truncatedChunks = raw(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n"
    )

    /// Reads one request, sends bytes that are not HTTP, and closes.
    public static let garbage = raw("220 mail.example ESMTP\r\n")

    /// Returns the head of a response, with its blank line.
    public static func head(_ status: Int, fields: [(String, String)] = []) -> Data {
        head(status, "Scripted", fields: fields)
    }

    static func head(_ status: Int, _ reason: String, fields: [(String, String)]) -> Data {
        Data("HTTP/1.1 \(status) \(reason)\r\n\(fields.map { "\($0): \($1)\r\n" }.joined())\r\n".utf8)
    }
}
