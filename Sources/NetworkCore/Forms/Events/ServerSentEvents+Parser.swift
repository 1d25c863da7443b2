public import FoundationEssentials
import HTTPTypes

extension ServerSentEvents {
    /// A parser for a `text/event-stream` by the rules of the HTML
    /// standard, [§9.2.6](https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation).
    /// The borders of the chunks don't matter.
    ///
    /// ```swift
    /// var parser = ServerSentEvents.Parser()
    /// for try await chunk in body {
    ///     for event in parser.events(in: chunk) { handle(event) }
    ///     if let problem = parser.problem { throw problem }
    /// }
    /// ```
    ///
    /// Bytes that are not UTF-8 are replaced by U+FFFD. An event that the end of the stream cuts off is discarded. An
    /// id that can't be sent as `Last-Event-ID`, because of a control character or more than 64 KiB, is ignored, like
    /// one with NUL.
    public struct Parser: Sendable, SafelyPrinted {
        /// The id to send as `Last-Event-ID` if the stream breaks now.
        public private(set) var lastEventID: String
        /// The pause before a reconnection that the server has requested; `nil` if it has not.
        public private(set) var reconnectionDelay: Duration?
        /// The reason why the parser reads no further: ``NetworkError/Code/lineTooLong`` or
        /// ``NetworkError/Code/eventTooLarge``. The events before it are returned first.
        public private(set) var problem: NetworkError?

        private var buffer: LineBuffer
        private let lineLimit: Int
        private let eventLimit: Int
        private var lineNumber = 0
        private var pendingID: String
        private var type = ""
        private var data = ""

        /// Creates a parser for the start of a stream.
        /// - Parameters:
        ///   - lastEventID: The id that the stream before it ended with.
        ///   - maximumLineBytes: The limit on a line, in bytes. Default: 1 MiB.
        ///   - maximumEventBytes: The limit on the data of one event, in bytes of UTF-8 of
        ///     ``ServerSentEvents/Event/data``. Default: 8 MiB.
        public init(lastEventID: String = "", maximumLineBytes: Int = 1 << 20, maximumEventBytes: Int = 8 << 20) {
            self.lastEventID = lastEventID
            pendingID = lastEventID
            lineLimit = maximumLineBytes
            eventLimit = maximumEventBytes
            buffer = LineBuffer(limit: maximumLineBytes)
        }

        /// Returns the events that a chunk completes.
        public mutating func events(in chunk: Data) -> [Event] {
            guard problem == nil else { return [] }
            var events: [Event] = []
            for line in buffer.lines(in: chunk) {
                lineNumber += 1
                if line.isEmpty {
                    if let event = dispatch() { events.append(event) }
                } else {
                    read(lineNumber == 1 ? line.withoutMark : line[...])
                }
                if problem != nil { return events }
            }
            if buffer.isOverfull { problem = .lineTooLong(lineNumber + 1, limit: lineLimit) }
            return events
        }

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
                // Each line before has its line feed here already, and the last one has none.
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
                guard !value.isEmpty, value.allSatisfy(\.isDigit) else { return }
                // About three weeks, far below the overflow of a Duration.
                let longest = Int64(Int32.max)
                let asked = Int64(String(decoding: value, as: UTF8.self)) ?? longest
                reconnectionDelay = .milliseconds(Swift.min(asked, longest))
            default: break
            }
        }
    }
}
