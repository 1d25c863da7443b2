import JSONText
import Foundation
import NetworkCore
import TestSupport
import Testing

@testable import NetworkComparison

@Suite("Parts of bodies")
struct BodyPartsTests: ContentSuite {
    /// Regression: names of paths had hundreds of megabytes, and repeated lines of an event were copied each time.
    @Test func `parts of a hostile body cost as much as their bytes`() {
        let key = String(repeating: "k", count: 120)
        let leaves = (0..<3_000).map { "\($0)" }.joined(separator: ",")
        let nested = String(repeating: #"{"\#(key)":"#, count: 60) + "[\(leaves)]" + String(repeating: "}", count: 60)
        let events = Self.response(String(repeating: "data:\n", count: 160_000) + "\n", type: "text/event-stream")
        let wide = "{" + (0..<4_900).map { #""\#(key.dropLast(10))\#($0)":1"# }.joined(separator: ",") + "}"
        let needed = cost(rounds: 1) {
            #expect(ResponseParts.parts(of: Self.response(nested)).keys.contains("body"))
            #expect(ResponseParts.parts(of: events).keys.contains("event:1"))
            #expect(!ResponseParts.parts(of: Self.response(wide)).keys.contains("body"))
        }
        // Seen: two seconds in a debug build.
        #expect(needed < .seconds(40))
    }

    /// A timestamp hides no other difference in its body.
    @Test func `one path of JSON differs next to one that always changes`() throws {
        func body(_ number: Int, _ b: Int) -> RecordedResponse {
            Self.response(#"{"time":\#(number),"b":[{"c~/":\#(b)}]}"#)
        }
        let result = Self.compare(
            Self.times(50) { body($0, 1) }, Self.times(50) { body(100 + $0, 1) }, Self.times(50) { body(200 + $0, 2) })
        let difference = try #require(result.differences.first)
        #expect(result.differences.count == 1)
        #expect(difference.place == "json:/b/0/c~0~1" && difference.share == 1 && difference.noiseShare == 0)
        #expect(difference.example == ("'1'", "'2'") && difference.known == nil)
        #expect(result.noise.map(\.place) == ["json:/time"])
    }

    /// Regression: a text with a timestamp was set aside as a whole, and "no differences" was said of it.
    @Test(arguments: ["text/html", "text/plain; charset=utf-8", nil])
    func `a text is compared word by word`(type: String?) throws {
        func page(_ time: Int, _ name: String) -> RecordedResponse {
            Self.response("<html>\n<p>at \(time)</p><p>\(name)  x</p>\n", type: type)
        }
        func arm(_ start: Int, _ name: String) -> [RecordedResponse] { Self.times(200) { page(start + $0, name) } }
        let equal = Self.compare(arm(1_000, "Ada"), arm(2_000, "Ada"), arm(3_000, "Ada"))
        #expect(equal.differences.isEmpty && !equal.hasUncomparedBodies && equal.noise.map(\.place) == ["text:2/3"])
        let other = Self.compare(arm(1_000, "Ada"), arm(2_000, "Ada"), arm(3_000, "Bob!"))
        let difference = try #require(other.differences.first)
        #expect(other.differences.count == 1 && difference.place == "text:2/6")
        // A word may be a secret.
        #expect(difference.example == ("5 bytes", "6 bytes"))
        let blanks = Self.compare(arm(1, "a b"), arm(1_000, "a b"), arm(2_000, "a  b"))
        #expect(blanks.differences.map(\.place) == ["text:2/6"])
    }

    @Test func `of bodies that change as a whole nothing is said`() {
        func arm(_ start: Int) -> [RecordedResponse] {
            Self.times(200) { Self.response("\(start + $0)", type: "application/octet-stream") }
        }
        let result = Self.compare(arm(0), arm(1_000), arm(2_000))
        #expect(result.differences.isEmpty && result.hasUncomparedBodies)
    }

    /// Regression: texts and keys were the same that Swift takes for equal, a list and an object with numbers as keys
    /// had the same paths, and of a key that is there twice the last one counted.
    @Test(arguments: [
        (#"{"a":"caf\u{E9}"}"#, #"{"a":"cafe\u{301}"}"#), (#"{"a":["x"]}"#, #"{"a":{"0":"x"}}"#),
        (#"{"role":"admin","role":"user"}"#, #"{"role":"user"}"#), ("caf\u{E9}", "cafe\u{301}"),
        ("{\"caf\u{E9}\":1}", "{\"cafe\u{301}\":1}"),
        ("{\"caf\u{E9}\":1,\"cafe\u{301}\":1}", "{\"caf\u{E9}\":1}"),
        (#"{"\u0007":1}"#, #"{"\\u{0007}":1}"#),
    ])
    func `bodies of other bytes differ`(left: String, right: String) {
        let left = left.replacing(#"\u{E9}"#, with: "\u{E9}")
        let right = right.replacing(#"\u{301}"#, with: "\u{301}")
        let result = Self.compare(Self.response(left), with: Self.response(right))
        #expect(!result.differences.isEmpty)
    }

    @Test func `events, trailers and redirects are parts`() {
        var response = Self.response("data: a\n\nid: 1\ndata: b\n\n", type: "text/event-stream")
        response.trailers = [.init("X-T", "1")]
        response.redirects = ["302 http://a/", "301 http://b/"]
        let parts = ResponseParts.parts(of: response)
        #expect(parts["events"]?.text == "2" && parts["event:2"]?.text == "message: b")
        #expect(parts["trailers"]?.text == "X-T: 1" && parts["redirects"]?.text == "302 http://a/ 301 http://b/")
        #expect(parts["body"] == nil)
    }

    /// Regression: of an event type and data were compared, joined as one text; of a stream 5,000 events.
    @Test(arguments: [
        ("id: 1\ndata: a\n\n", "id: 2\ndata: a\n\n", ["event:1/id"]),
        ("id: 1\ndata: a\n\n", "data: a\n\n", ["event:1/id"]),
        ("retry: 10\ndata: a\n\n", "retry: 99\ndata: a\n\n", ["event:1/retry"]),
        ("event: a\ndata: b: c\n\n", "event: a: b\ndata: c\n\n", ["event:1"]),
        ("event: a\\\ndata: b\n\n", "event: a\ndata: b\n\n", ["event:1"]),
        ("event: a\n\n", "event: a\ndata\n\n", ["event:1"]),
        ("data: a\n\ndata: half an eve", "data: a\n\n", ["event:2"]),
        ("data: a\n\ndata: b\n\n", "data: a\n\ndata: b", ["event:2", "events"]),
        ("retry: 10\n\ndata: a\n\n", "data: a\n\n", ["event:1", "event:1/retry", "event:2", "events"]),
        ("data: caf\u{E9}\n\n", "data: cafe\u{301}\n\n", ["event:1"]),
        // The same to a reader of events.
        (": hello\n\ndata: a\n\n", "data: a\r\n\r\n", []),
        ("\u{FEFF}event: message\ndata:a\nx: y\n\n", "data: a\r\r", []),
        ("data: a\ndata: b\n\n", "data: a\r\ndata: b\r\n\r\n: c", []),
    ])
    func `events differ by the bytes of their fields`(left: String, right: String, places: [String]) {
        func some(_ text: String) -> RecordedResponse {
            Self.response(text, type: "text/event-stream")
        }
        #expect(Self.compare(some(left), with: some(right)).differences.map(\.place) == places)
    }

    @Test func `events of other bytes that are no UTF-8 differ`() {
        func some(_ byte: UInt8) -> RecordedResponse {
            var response = Self.response(type: "text/event-stream")
            response.setBody(Data("data: a".utf8) + [byte] + Data("\n\n".utf8))
            return response
        }
        #expect(Self.compare(some(0xFF), with: some(0xFE)).differences.map(\.place) == ["event:1"])
    }

    @Test func `more events than the limit are compared as a text`() {
        func parts(_ text: String, isCut: Bool = false) -> [PartName: PartValue]? {
            EventParts.parts(of: Data(text.utf8), isCut: isCut, limit: 6)
        }
        let start = String(repeating: "id: 1\ndata: a\n\n", count: 2)
        let names = ["event:1", "event:1/id", "event:2", "event:2/id", "event:3", "events"]
        #expect(parts(start + "data: b\n\n")?.keys.sorted().map(\.text) == names)
        #expect(parts(start + "data: b\n\ndata: c\n\n") == nil)
        // The end of a body that was cut is not known.
        #expect(parts("data: a\n\ndata: b", isCut: true)?.keys.map(\.text) == ["event:1"])
        let many = Self.response(String(repeating: "data: a\n\n", count: 2_400), type: "text/event-stream")
        #expect(ResponseParts.parts(of: many)["text:1"] == nil)
        #expect(ResponseParts.parts(of: many)["event:2400"] != nil)
        let more = Self.response(String(repeating: "id: 1\ndata: a\n\n", count: 2_500), type: "text/event-stream")
        #expect(ResponseParts.parts(of: more)["body"] != nil)
    }

    @Test func `a body that is not quite JSON, or large, is compared as a whole`() {
        #expect(ResponseParts.parts(of: Self.response("{"))["body"]?.text == "{")
        let many = "[" + (0..<6_000).map(String.init).joined(separator: ",") + "]"
        #expect(ResponseParts.parts(of: Self.response(many))["body"] != nil)
        let large = Self.response(String(repeating: "x", count: RecordedResponse.maximumBody + 1))
        #expect(large.body.isEmpty && large.digest != nil)
        #expect(ResponseParts.parts(of: large)["body"]?.text.hasPrefix("1048577 bytes") == true)
        #expect(ResponseParts.parts(of: Self.response("[]"))["json:"]?.text == "[]")
        #expect(ResponseParts.parts(of: Self.response(#"{"a":{}}"#))["json:/a"]?.kind == "object")
    }

    @Test(arguments: [
        (#"{"a":1,"b":[1,2"#, #"{"a":1,"b":[1]}"#), (#"{"a":1,"b":[1,2]"#, #"{"a":1,"b":[1,2]}"#),
        (#"{"a":"x\","#, #"{}"#), (#"[{"a":1},{"b""#, #"[{"a":1},{}]"#), (#"{"a":1}"#, #"{"a":1}"#), ("12", "12"),
        (#"{"a":"},{","#, #"{"a":"},{"}"#), ("", ""), ("]]", "]]"),
    ])
    func `the start of a JSON text is completed`(start: String, expected: String) {
        #expect(String(decoding: JSONPrefix.completed(Array(start.utf8)), as: UTF8.self) == expected)
    }

    /// Regression: each bracket copied all that were open.
    @Test func `the start of a JSON text that is too deep for the parser is left as it is`() {
        func text(_ count: Int) -> [UInt8] { Array(repeating: UInt8(ascii: "["), count: count) }
        let deepest = JSONPrefix.completed(text(JSONParser.maximumDepth + 1))
        #expect(throws: Never.self) { try JSONParser.parse(deepest) }
        let deeper = text(JSONParser.maximumDepth + 2)
        #expect(JSONPrefix.completed(deeper) == deeper)
        let (short, long) = (text(16_000), text(128_000))
        // Quadratic, it would be 64 times.
        let limit = cost(rounds: 3) { _ = JSONPrefix.completed(short) } * 24
        #expect(!costsMore(than: limit) { _ = JSONPrefix.completed(long) })
    }
}
