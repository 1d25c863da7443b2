public import Foundation

/// What ``ScriptedServer`` does on one connection: steps, one after the other. After the last the connection is closed.
///
/// ```swift
/// let server = try ScriptedServer([.read, .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel"), .reset])
/// ```
public struct Script: Sendable, ExpressibleByArrayLiteral {
    /// The steps.
    public var steps: [Step]

    /// A script of steps.
    public init(_ steps: [Step]) { self.steps = steps }

    /// A script of steps.
    public init(arrayLiteral elements: Step...) { steps = elements }

    /// One step.
    public struct Step: Sendable {
        indirect enum Kind: Sendable {
            case read
            case readHead
            case readBody(count: Int, size: Int, milliseconds: Int)
            case send(Data)
            case sendSplit(Data, size: Int, milliseconds: Int)
            case flood(Data)
            case pause(milliseconds: Int)
            case wait(Gate)
            case open(Gate)
            case stall
            case close
            case reset
            case forEachRequest([Step])
        }

        let kind: Kind

        /// Reads one request, head and body, and records it. Behind one whose length is no number the connection is
        /// closed, for where the next one begins is not known; it is recorded with what came of its body.
        public static let read = Step(kind: .read)
        /// Reads one request's head, records it, and leaves its body unread.
        public static let readHead = Step(kind: .readHead)
        /// Reads so many bytes after a head, as they are on the wire, in pieces with a pause after each. A client
        /// notices a slow reader where little is under way: ``ScriptedServer/init(scripts:segment:)``.
        /// - Parameters:
        ///   - count: How many.
        ///   - size: The most bytes of a piece, at least 1.
        ///   - milliseconds: The pause.
        public static func readBody(_ count: Int, each size: Int = 65_536, pause milliseconds: Int = 0) -> Step {
            Step(kind: .readBody(count: count, size: max(1, size), milliseconds: milliseconds))
        }
        /// Sends bytes.
        public static func send(_ bytes: Data) -> Step { Step(kind: .send(bytes)) }
        /// Sends a text as UTF-8.
        public static func send(_ text: String) -> Step { send(Data(text.utf8)) }
        /// Sends bytes in pieces, with a short pause after each so that they arrive as pieces, mostly.
        /// - Parameters:
        ///   - bytes: What to send.
        ///   - size: The bytes of a piece, at least 1.
        ///   - milliseconds: The pause.
        public static func sendSplit(_ bytes: Data, each size: Int, pause milliseconds: Int = 1) -> Step {
            Step(kind: .sendSplit(bytes, size: max(1, size), milliseconds: milliseconds))
        }
        /// Sends bytes again and again until the peer or the server closes.
        public static func flood(_ bytes: Data) -> Step { Step(kind: .flood(bytes)) }
        /// Waits that long, or until the peer sends or closes.
        public static func pause(milliseconds: Int) -> Step { Step(kind: .pause(milliseconds: milliseconds)) }
        /// Waits until a gate is open, at most a minute.
        public static func wait(until gate: Gate) -> Step { Step(kind: .wait(gate)) }
        /// Opens a gate: tells a test that the script has come here.
        public static func open(_ gate: Gate) -> Step { Step(kind: .open(gate)) }
        /// Reads and says nothing until the peer or the server closes.
        public static let stall = Step(kind: .stall)
        /// Closes in order: what was sent arrives.
        public static let close = Step(kind: .close)
        /// Closes with RST: the peer sees the connection break.
        public static let reset = Step(kind: .reset)
        /// Reads a request and runs the steps, again and again until the peer closes: a kept-alive connection.
        public static func forEachRequest(_ steps: [Step]) -> Step { Step(kind: .forEachRequest(steps)) }
    }
}

extension Script {
    /// Answers every request of the connection alike, and keeps the connection.
    /// - Parameters:
    ///   - status: The status.
    ///   - fields: Header fields beside `Content-Length`.
    ///   - body: The body.
    public static func answer(_ status: Int = 200, fields: [(String, String)] = [], body: Data = Data()) -> Script {
        [.forEachRequest([.send(head(status, fields: fields + [("Content-Length", "\(body.count)")]) + body)])]
    }

    /// Answers every request of the connection with 200 and a text, and keeps the connection.
    public static func ok(_ body: String = "", fields: [(String, String)] = []) -> Script {
        answer(fields: fields, body: Data(body.utf8))
    }

    /// Reads one request, sends a text as it is, and closes.
    public static func raw(_ text: String) -> Script { [.read, .send(text), .close] }

    /// Reads one request, sends bytes as they are, and closes.
    public static func raw(_ bytes: Data) -> Script { [.read, .send(bytes), .close] }

    /// Reads one request and closes without an answer.
    public static let closed: Script = [.read, .close]

    /// Reads one request and resets the connection without an answer.
    public static let reset: Script = [.read, .reset]

    /// Reads one request and never answers.
    public static let stalled: Script = [.read, .stall]

    /// Announces 100 bytes, sends 10 and closes.
    public static let truncated = raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789")

    /// Sends one chunk of 10 bytes and closes without the last chunk.
    public static let truncatedChunks = raw(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n"
    )

    /// Sends what is not HTTP, and closes.
    public static let garbage = raw("220 mail.example ESMTP\r\n")

    /// A response's head with its blank line.
    public static func head(_ status: Int, fields: [(String, String)] = []) -> Data {
        let lines = fields.map { "\($0.0): \($0.1)\r\n" }.joined()
        return Data("HTTP/1.1 \(status) Scripted\r\n\(lines)\r\n".utf8)
    }
}
