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
        indirect enum Kind: Sendable {
            case read
            case readHead
            case readBody(count: Int, size: Int, pause: Duration)
            case send(Data)
            case sendSplit(Data, size: Int, pause: Duration)
            case flood(Data)
            case pause(Duration)
            case wait(Gate)
            case open(Gate)
            case stall
            case close
            case reset
            case forEachRequest([Step])
            /// Responds to one request after the other, until the closure returns `false`. None is recorded.
            case serve(@Sendable (ScriptedConnection, inout RequestReader) -> Bool)
        }

        let kind: Kind

        /// Reads one request, head and body, and records it. If the length of the body is not a number, the start of
        /// the next request is unknown: the step records the part of the body that it read, and closes the connection.
        public static let read = Step(kind: .read)
        /// Reads and records the head of one request, and leaves its body unread.
        public static let readHead = Step(kind: .readHead)
        /// Reads a number of bytes after a head, as they are on the wire, in pieces with a pause after each. A client
        /// notices a slow reader only if little data is in flight: see ``ScriptedServer/init(scripts:segment:)``.
        /// - Parameters:
        ///   - count: The number of bytes.
        ///   - size: The largest size of a piece in bytes, at least 1. Default: 65,536.
        ///   - pause: The pause after each piece. Default: none.
        public static func readBody(_ count: Int, each size: Int = 65_536, pause: Duration = .zero) -> Step {
            Step(kind: .readBody(count: count, size: max(1, size), pause: pause))
        }
        /// Sends bytes.
        public static func send(_ bytes: Data) -> Step { Step(kind: .send(bytes)) }
        /// Sends a string as UTF-8.
        public static func send(_ text: String) -> Step { send(Data(text.utf8)) }
        /// Sends bytes in pieces, with a short pause after each so that most of them arrive as separate pieces.
        /// - Parameters:
        ///   - bytes: The bytes to send.
        ///   - size: The size of a piece in bytes, at least 1.
        ///   - pause: The pause after each piece. Default: 1 ms.
        public static func sendSplit(_ bytes: Data, each size: Int, pause: Duration = .milliseconds(1)) -> Step {
            Step(kind: .sendSplit(bytes, size: max(1, size), pause: pause))
        }
        /// Sends the same bytes repeatedly until the peer or the server closes the connection.
        public static func flood(_ bytes: Data) -> Step { Step(kind: .flood(bytes)) }
        /// Waits the given time, at most a minute, or until the peer sends or closes.
        public static func pause(_ time: Duration) -> Step { Step(kind: .pause(time)) }
        /// Waits until a gate is open, at most one minute.
        public static func wait(until gate: Gate) -> Step { Step(kind: .wait(gate)) }
        /// Opens a gate, so that a test can wait until the script has reached this step.
        public static func open(_ gate: Gate) -> Step { Step(kind: .open(gate)) }
        /// Reads and discards input, and sends nothing, until the peer or the server closes the connection.
        public static let stall = Step(kind: .stall)
        /// Closes the connection in order, so that everything sent arrives: reads what the peer still sends, until it
        /// closes or pauses for 50 ms.
        public static let close = Step(kind: .close)
        /// Closes the connection with RST, which the peer sees as a broken connection.
        public static let reset = Step(kind: .reset)
        /// Reads a request and runs the steps, repeatedly, until the peer closes: a kept-alive connection.
        public static func forEachRequest(_ steps: [Step]) -> Step { Step(kind: .forEachRequest(steps)) }

        /// The step and the number of bytes it sends.
        public var description: String {
            switch kind {
            case .read: "read"
            case .readHead: "readHead"
            case .readBody(let count, let size, let pause): "readBody \(count) each \(size) pause \(pause)"
            case .send(let bytes): "send \(bytes.count) bytes"
            case .sendSplit(let bytes, let size, let pause):
                "sendSplit \(bytes.count) bytes each \(size) pause \(pause)"
            case .flood(let bytes): "flood \(bytes.count) bytes"
            case .pause(let pause): "pause \(pause)"
            case .wait: "wait"
            case .open: "open"
            case .stall: "stall"
            case .close: "close"
            case .reset: "reset"
            case .forEachRequest(let steps): "forEachRequest \(steps)"
            case .serve: "serve"
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
