import Foundation
import NetworkCore

/// Takes server-sent events apart, by the bytes of their fields (HTML §9.2.6).
///
/// The parts of the event with the number N, of those that have a field:
///
/// - `event:N`, its type and its data;
/// - `event:N/id` and `event:N/retry`, where it has them.
///
/// `events` is the number of events that are complete. Comments, unknown fields and line ends are no parts, since
/// servers send comments by time.
enum EventParts {
    /// The values of the fields of an event, those of a repeated one joined by line feeds.
    private struct Event {
        static let names = ["event", "data", "id", "retry"]
        private(set) var values: [[UInt8]?] = [nil, nil, nil, nil]

        var isEmpty: Bool { values.allSatisfy { $0 == nil } }
        var id: [UInt8]? { values[2] }
        var retry: [UInt8]? { values[3] }

        mutating func read(_ line: ArraySlice<UInt8>) {
            let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
            guard let index = Self.names.firstIndex(where: { line[..<colon].elementsEqual($0.utf8) }) else { return }
            var value = line[colon...].dropFirst()
            if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
            // In place: each further line would copy all before it.
            if values[index] != nil { values[index]?.append(UInt8(ascii: "\n")) } else { values[index] = [] }
            values[index]?.append(contentsOf: value)
        }

        /// Returns type and data as one value. Colons of the type are escaped, so the first other one ends the type.
        func value(isComplete: Bool) -> PartValue {
            let type = values[0].flatMap { $0.isEmpty ? nil : $0 } ?? Array("message".utf8)
            let escaped = type.reduce(into: [UInt8]()) { escaped, byte in
                if [UInt8(ascii: ":"), UInt8(ascii: "\\")].contains(byte) { escaped.append(UInt8(ascii: "\\")) }
                escaped.append(byte)
            }
            let kind = !isComplete ? "incomplete" : values[1] == nil ? "without data" : "text"
            return ResponseParts.text(of: escaped + Array(": ".utf8) + (values[1] ?? []), kind: kind)
        }
    }

    /// Returns the parts of a body or of its start (`isCut`); `nil` if there are more than a limit.
    static func parts(of body: Data, isCut: Bool, limit: Int) -> [PartName: PartValue]? {
        let (events, last) = events(in: Array(body))
        var parts: [PartName: PartValue] = [:]
        for (index, event) in events.enumerated() {
            add(event, as: index + 1, isComplete: true, to: &parts)
            guard parts.count < limit else { return nil }
        }
        guard !isCut else { return parts }
        if !last.isEmpty { add(last, as: events.count + 1, isComplete: false, to: &parts) }
        parts["events"] = PartValue("\(events.count)", kind: "number")
        return parts
    }

    private static func add(
        _ event: Event, as number: Int, isComplete: Bool, to parts: inout [PartName: PartValue]
    ) {
        parts[PartName("event:\(number)")] = event.value(isComplete: isComplete)
        if let id = event.id { parts[PartName("event:\(number)/id")] = ResponseParts.text(of: id) }
        if let retry = event.retry { parts[PartName("event:\(number)/retry")] = ResponseParts.text(of: retry) }
    }

    /// Returns the events that are complete, and the one that the end of the body cuts off.
    private static func events(in body: [UInt8]) -> (complete: [Event], last: Event) {
        var (events, event) = ([Event](), Event())
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        var start = body.starts(with: mark) ? mark.count : 0
        while start < body.count {
            let end = body[start...].firstIndex { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") } ?? body.count
            if end > start {
                event.read(body[start..<end])
            } else {
                if !event.isEmpty { events.append(event) }
                event = Event()
            }
            let isPair = end + 1 < body.count && body[end] == UInt8(ascii: "\r") && body[end + 1] == UInt8(ascii: "\n")
            start = end + (isPair ? 2 : 1)
        }
        return (events, event)
    }
}
