public import FoundationEssentials
import HTTPTypes

extension ServerSentEvents {
    /// Reads a `text/event-stream` by the rules of the WHATWG's HTML standard (§9.2.6), wherever the chunks' borders
    /// are.
    ///
    /// ```swift
    /// var parser = ServerSentEvents.Parser()
    /// for try await chunk in body {
    ///     for event in parser.events(in: chunk) { handle(event) }
    ///     if let problem = parser.problem { throw problem }
    /// }
    /// ```
    ///
    /// Bytes that are not UTF-8 are replaced by U+FFFD. What the end of a stream cuts off is no event. An id that can't
    /// be sent as `Last-Event-ID`, with a control character or more than 64 KiB, is ignored as one with NUL is.
    public struct Parser: Sendable {
        /// The id to send as `Last-Event-ID` when the stream breaks now.
        public private(set) var lastEventID: String
        /// The time that the server wants to pass before a reconnection, if it has said so.
        public private(set) var reconnectionTime: Duration?
        /// Why nothing more is read: ``NetworkError/Code/lineTooLong`` or ``NetworkError/Code/eventTooLarge``. The
        /// events before are handed out first.
        public private(set) var problem: NetworkError?

        private var buffer: LineBuffer
        private let lineLimit: Int
        private let eventLimit: Int
        private var lineNumber = 0
        private var pendingID: String
        private var type = ""
        private var data = ""

        /// A parser at the start of a stream.
        /// - Parameters:
        ///   - lastEventID: What the stream before has left.
        ///   - maximumLineBytes: The longest line.
        ///   - maximumEventBytes: The largest data of one event, in bytes of UTF-8 as ``ServerSentEvents/Event/data``
        ///     has them.
        public init(lastEventID: String = "", maximumLineBytes: Int = 1 << 20, maximumEventBytes: Int = 8 << 20) {
            self.lastEventID = lastEventID
            pendingID = lastEventID
            lineLimit = maximumLineBytes
            eventLimit = maximumEventBytes
            buffer = LineBuffer(limit: maximumLineBytes)
        }

        /// The events that a chunk completes.
        public mutating func events(in chunk: Data) -> [Event] {
            guard problem == nil else { return [] }
            var events: [Event] = []
            for line in buffer.lines(in: chunk) {
                lineNumber += 1
                if line.isEmpty {
                    if let event = dispatch() { events.append(event) }
                } else {
                    read(lineNumber == 1 && line.starts(with: [0xEF, 0xBB, 0xBF]) ? line[3...] : line[...])
                }
                if problem != nil { return events }
            }
            if buffer.isOverfull { problem = .lineTooLong(lineNumber + 1, limit: lineLimit) }
            return events
        }

        /// A blank line: the event is complete, if it has data.
        private mutating func dispatch() -> Event? {
            lastEventID = pendingID
            defer { (type, data) = ("", "") }
            guard !data.isEmpty else { return nil }
            return Event(
                id: lastEventID, type: type.isEmpty ? "message" : type, data: String(data.dropLast()))
        }

        private mutating func read(_ line: ArraySlice<UInt8>) {
            let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
            var value = line[colon...].dropFirst()
            if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
            switch String(decoding: line[..<colon], as: UTF8.self) {
            case "event": type = String(decoding: value, as: UTF8.self)
            case "data":
                let line = String(decoding: value, as: UTF8.self)
                // Each line before has its line feed here already, and the last has none.
                guard data.utf8.count + line.utf8.count <= eventLimit else {
                    problem = NetworkError(
                        .eventTooLarge,
                        "the data of an event is larger than the limit of \(eventLimit) bytes, at line \(lineNumber)",
                        phase: .receiving
                    )
                    return
                }
                data += line + "\n"
            case "id":
                let id = String(decoding: value, as: UTF8.self)
                if HTTPField.problem(withValue: id) == nil { pendingID = id }
            case "retry":
                guard !value.isEmpty, value.allSatisfy({ (0x30...0x39).contains($0) }) else { return }
                // Some three weeks, far below what a Duration overflows at.
                let longest = Int64(Int32.max)
                let asked = Int64(String(decoding: value, as: UTF8.self)) ?? longest
                reconnectionTime = .milliseconds(Swift.min(asked, longest))
            default: break
            }
        }
    }
}
