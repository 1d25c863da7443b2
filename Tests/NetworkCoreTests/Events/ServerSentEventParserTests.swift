import Foundation
import NetworkCore
import TestSupport
import Testing

struct ServerSentEventParserTests {
    private typealias Event = ServerSentEvents.Event

    private func events(_ text: String) -> [ServerSentEvents.Event] {
        var parser = ServerSentEvents.Parser()
        return parser.events(in: Data(text.utf8))
    }

    /// The examples and rules of the HTML standard, §9.2.5 and §9.2.6.
    @Test(
        arguments: [
            ("data: YHOO\ndata: +2\ndata: 10\n\n", [.init(data: "YHOO\n+2\n10")]),
            (
                ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
                [.init(id: "1", data: "first event"), .init(data: "second event"), .init(data: " third event")]
            ),
            ("data\n\ndata\ndata\n\ndata:", [.init(data: ""), .init(data: "\n")]),
            ("data:test\n\ndata: test\n\n", [.init(data: "test"), .init(data: "test")]),
            ("event: add\ndata: 1\n\ndata: 2\n\n", [.init(type: "add", data: "1"), .init(data: "2")]),
            ("event: add\n\ndata: 2\n\n", [.init(data: "2")]),
            ("\u{FEFF}data: a\n\n\u{FEFF}data: b\n\n", [.init(data: "a")]),
            ("data: a\r\rdata: b\r\n\r\ndata: c\n\n", [.init(data: "a"), .init(data: "b"), .init(data: "c")]),
            ("id: 1\n\ndata: x\n\n", [.init(id: "1", data: "x")]),
            ("id: 1\u{0}2\ndata: x\n\n", [.init(data: "x")]),
            ("id: 1\ndata: x\n\nid: 2\u{0}\ndata: y\n\n", [.init(id: "1", data: "x"), .init(id: "1", data: "y")]),
            ("Data: a\n data: b\ndata : c\nunknown: d\ndata: e\n\n", [.init(data: "e")]),
            ("data: a: b :c\n\n", [.init(data: "a: b :c")]),
            ("data: cut off", []), ("data: no blank line\n", []), ("", []), ("\n\n\n", []),
            ("event:\ndata: empty type\n\n", [.init(data: "empty type")]),
        ] as [(String, [ServerSentEvents.Event])]
    )
    func `the rules of the standard are kept`(text: String, expected: [ServerSentEvents.Event]) {
        #expect(events(text) == expected)
    }

    @Test(
        arguments: [
            ("retry: 10", 10), ("retry:0", 0), ("retry: 1.5", nil), ("retry: -1", nil), ("retry: ", nil),
            ("retry: 1 ", nil), ("retry", nil), ("retry: ١", nil),
        ] as [(String, Int?)]
    )
    func `a reconnection time is digits alone`(line: String, milliseconds: Int?) {
        var parser = ServerSentEvents.Parser()
        #expect(parser.events(in: Data("\(line)\n".utf8)).isEmpty)
        #expect(parser.reconnectionDelay == milliseconds.map { .milliseconds($0) })
    }

    /// Such an id could not be sent as a header field, so the reconnection would fail as if by the caller's mistake.
    @Test(arguments: ["\u{1}", "a\u{1B}[2J", "\u{7F}", "a\tb\u{8}", String(repeating: "a", count: 65_537)])
    func `an id that no field can hold is ignored`(id: String) {
        #expect(
            events("id: 1\ndata: a\n\nid: \(id)\ndata: b\n\n") == [
                .init(id: "1", data: "a"), .init(id: "1", data: "b"),
            ])
    }

    @Test(arguments: ["é", "a\tb", " ", String(repeating: "a", count: 65_536)])
    func `an id that a field can hold is taken`(id: String) {
        #expect(events("id: \(id)\ndata: a\n\n") == [.init(id: id, data: "a")])
    }

    @Test func `an enormous reconnection time does not trap`() {
        var parser = ServerSentEvents.Parser()
        _ = parser.events(in: Data("retry: \(String(repeating: "9", count: 1000))\n\n".utf8))
        #expect(parser.reconnectionDelay == .milliseconds(Int(Int32.max)))
        _ = parser.events(in: Data("retry: \(Int64.max)\n\n".utf8))
        #expect(parser.reconnectionDelay == .milliseconds(Int(Int32.max)))
    }

    @Test func `the last event id is that of the last blank line`() {
        var parser = ServerSentEvents.Parser(lastEventID: "0")
        #expect(parser.lastEventID == "0")
        _ = parser.events(in: Data("id: 1\ndata: x\n".utf8))
        #expect(parser.lastEventID == "0", "the event is incomplete")
        _ = parser.events(in: Data("\n".utf8))
        #expect(parser.lastEventID == "1")
        _ = parser.events(in: Data("id: 2\n\n".utf8))
        #expect(parser.lastEventID == "2", "an event without data counts too")
        _ = parser.events(in: Data("id\n\n".utf8))
        #expect(parser.lastEventID.isEmpty)
    }

    @Test func `bytes that are not UTF-8 are replaced`() {
        var parser = ServerSentEvents.Parser()
        #expect(parser.events(in: Data([0x64, 0x61, 0x74, 0x61, 0x3A, 0xFF, 0x0A, 0x0A])) == [Event(data: "\u{FFFD}")])
    }

    @Test func `line and event have limits, after what came before`() {
        var parser = ServerSentEvents.Parser(maximumLineBytes: 10)
        #expect(parser.events(in: Data("data: a\n\ndata: 12345\n\n".utf8)) == [Event(data: "a")])
        #expect(parser.problem?.code == .lineTooLong)
        #expect(parser.problem?.message.contains("line 3") == true)
        #expect(parser.events(in: Data("data: b\n\n".utf8)).isEmpty)

        parser = ServerSentEvents.Parser(maximumEventBytes: 6)
        #expect(parser.events(in: Data("data: 12345\n\ndata: 123\ndata: 456\n\n".utf8)) == [Event(data: "12345")])
        #expect(parser.problem?.code == .eventTooLarge)
        #expect(parser.events(in: Data("data: b\n\n".utf8)).isEmpty)
    }

    /// Regression: the limit counted the received bytes, including a line feed that is no part of the data.
    @Test(
        arguments: [
            ("data:123456", "123456"), ("data: 1234567", nil), ("data:12\ndata:345", "12\n345"),
            ("data:123\ndata:456", nil), ("data:\ndata:\ndata:\ndata:\ndata:\ndata:\ndata:", "\n\n\n\n\n\n"),
            ("data:\ndata:\ndata:\ndata:\ndata:\ndata:\ndata:\ndata:", nil), ("data:é\ndata:é1", "é\né1"),
            ("data:ééé", "ééé"), ("data:ééé1", nil), ("data:123456\ndata:", nil),
        ] as [(String, String?)])
    func `the limit is that of the data`(lines: String, data: String?) {
        var parser = ServerSentEvents.Parser(maximumEventBytes: 6)
        #expect(parser.events(in: Data("\(lines)\n\n".utf8)) == (data.map { [Event(data: $0)] } ?? []))
        #expect(parser.problem?.code == (data == nil ? .eventTooLarge : nil))
    }

    @Test(arguments: [(2, true), (3, false)])
    func `bytes that are no text count as what they become`(count: Int, isTaken: Bool) {
        var parser = ServerSentEvents.Parser(maximumEventBytes: 6)
        let line = Data("data:".utf8) + Data(repeating: 0xFF, count: count) + Data("\n\n".utf8)
        #expect(parser.events(in: line).map(\.data.utf8.count) == (isTaken ? [6] : []))
        #expect((parser.problem == nil) == isTaken)
    }

    @Test(arguments: 0..<60) func `chunks cut anywhere give the same events`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let pieces = [
            "data", "data:", ": ", ":", "\n", "\r", "\r\n", "\n\n", "id: ", "7", "event: ", "retry: 5", "x", "\u{0}",
            "ü",
            "\u{FEFF}", " ",
        ]
        let text = (0..<Int.random(in: 0...30, using: &random)).map { _ in pieces.randomElement(using: &random)! }
            .joined()
        let bytes = Data(text.utf8)
        let whole = read([bytes])
        for border in 0...bytes.count {
            #expect(read([bytes.prefix(border), bytes.dropFirst(border)]) == whole, "seed \(seed), border \(border)")
        }
        #expect(read(bytes.map { Data([$0]) }) == whole)
    }

    private struct Reading: Equatable {
        var events: [ServerSentEvents.Event] = []
        var lastEventID = ""
        var reconnectionDelay: Duration?
        var problem: NetworkError.Code?
    }

    private func read(_ chunks: [Data]) -> Reading {
        var parser = ServerSentEvents.Parser(maximumLineBytes: 12, maximumEventBytes: 8)
        var reading = Reading()
        for chunk in chunks { reading.events += parser.events(in: chunk) }
        reading.lastEventID = parser.lastEventID
        reading.reconnectionDelay = parser.reconnectionDelay
        reading.problem = parser.problem?.code
        return reading
    }

    @Test func `the data of an event is a value too`() throws {
        #expect(try Event(data: #"{"a":1}"#).decoded(as: [String: Int].self) == ["a": 1])
        let error = expectFailure(.decodingFailed) { try Event(data: "[DONE]").decoded(as: [String: Int].self) }
        #expect(error?.message.hasPrefix("the event's data is not") == true)
        #expect(try Event(data: "x").decoded(as: Int.self, by: .using { _, body in body.count }) == 1)
    }
}
