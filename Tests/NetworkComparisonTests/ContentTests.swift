import Foundation
import NetworkCore
import TestSupport
import struct NetworkComparison.SeededGenerator
import Testing

@testable import NetworkComparison

@Suite("Contents of a comparison")
struct ContentTests {
    private static func response(
        _ body: String = "", status: Int = 200, type: String? = "application/json",
        fields: [(String, String)] = []
    ) -> RecordedResponse {
        var response = RecordedResponse()
        response.status = status
        response.fields = (type.map { [("Content-Type", $0)] } ?? []).map { .init($0, $1) }
        response.fields += fields.map { .init($0.0, $0.1) }
        response.setBody(Data(body.utf8))
        return response
    }

    private static func failure(_ code: String) -> RecordedResponse {
        var response = RecordedResponse()
        response.errorCode = code
        response.errorText = "\(code): in words"
        return response
    }

    private static func tally(_ responses: [RecordedResponse]) -> ContentTally {
        var tally = ContentTally()
        for (number, response) in responses.enumerated() {
            tally.learn(response, as: number)
            tally.count(number)
        }
        return tally
    }

    private static func compare(
        _ first: [RecordedResponse], _ copy: [RecordedResponse], _ other: [RecordedResponse]
    ) -> ContentComparison {
        ContentComparison(tally(first), copy: tally(copy), tally(other), kinds: ("curl", "urlsession"), sentNames: [])
    }

    /// Compares two arms, of which the first one's copy has the same responses.
    private static func compare(
        _ first: [RecordedResponse], with other: [RecordedResponse],
        kinds: (String, String) = ("curl", "urlsession"), names: [HTTPField.Name] = []
    ) -> ContentComparison {
        ContentComparison(tally(first), copy: tally(first), tally(other), kinds: kinds, sentNames: names)
    }

    private static func times(_ count: Int, _ make: (Int) -> RecordedResponse) -> [RecordedResponse] {
        (0..<count).map(make)
    }

    @Test func `equal responses do not differ`() {
        let some = Self.times(20) { _ in Self.response(#"{"a":1}"#) }
        let result = Self.compare(some, with: some)
        #expect(result.differences.isEmpty && result.noise.isEmpty && !result.isEmpty)
        #expect(Self.compare(some, with: []).isEmpty)
        // Regression: arms that failed alike were said to respond alike.
        let failed = Self.times(20) { _ in Self.failure("connectFailed") }
        #expect(Self.compare(failed, with: failed).isEmpty && Self.compare(some, with: failed).isEmpty)
    }

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

    @Test func `one body in a thousand is found`() throws {
        let good = Self.times(1000) { _ in Self.response("good", type: "application/octet-stream") }
        let bad = Self.times(1000) {
            Self.response($0 == 500 ? "goOd" : "good", type: "application/octet-stream")
        }
        let result = Self.compare(good, with: bad, kinds: ("curl", "curl"))
        let difference = try #require(result.differences.first)
        #expect(result.differences.count == 1 && difference.place == "body")
        #expect(abs(difference.share - 0.001) < 1e-9)
        let bytes = "4 bytes, different from byte 2 on"
        #expect(difference.text(("a", "b")) == "body: \(bytes) over a, \(bytes) over b in 0.1 % of the responses")
    }

    /// A server that picks at random is no difference between the transports.
    @Test func `values of a random server are set aside`() {
        var generator = SeededGenerator(seed: 7)
        func random() -> RecordedResponse {
            Self.response("{}", fields: [("Served-By", Bool.random(using: &generator) ? "a" : "b")])
        }
        for _ in 0..<50 {
            let three = (0..<3).map { _ in Self.times(200) { _ in random() } }
            let result = Self.compare(three[0], three[1], three[2])
            #expect(result.differences.isEmpty)
            #expect(result.noise.map(\.place) == ["field:served-by"])
        }
        // A shift of the shares is one.
        let one = Self.times(200) { _ in random() }
        let shifted = Self.times(200) { Self.response("{}", fields: [("Served-By", $0 < 190 ? "a" : "b")]) }
        #expect(Self.compare(one, Self.times(200) { _ in random() }, shifted).differences.count == 1)
    }

    /// A part that always changes over one arm, and is missing or fixed over another one, is a difference.
    @Test func `a changing part that stops to change is found`() {
        func timed(_ number: Int) -> RecordedResponse { Self.response("{}", fields: [("X-Time", "\(number)")]) }
        let (first, copy) = (Self.times(50, timed), Self.times(50) { timed(1000 + $0) })
        let fixed = Self.times(50) { _ in timed(-1) }
        #expect(Self.compare(first, copy, fixed).differences.map(\.place) == ["field:x-time"])
        let missing = Self.times(50) { _ in Self.response("{}") }
        #expect(Self.compare(first, copy, missing).differences.map(\.place).contains("field:x-time"))
        let other = Self.times(50) { timed(2000 + $0) }
        #expect(Self.compare(first, copy, other).differences.isEmpty)
    }

    @Test func `differences between the transports are known by name`() {
        let apart = [("X-A", "1"), ("X-A", "2")]
        let result = Self.compare(
            Self.times(20) { _ in Self.response("{}", fields: apart) },
            with: Self.times(20) { _ in Self.response("{}", fields: [("X-A", "1, 2")]) })
        #expect(result.differences.map(\.place) == ["field:x-a", "fieldOrder"])
        #expect(result.differences.allSatisfy { $0.known?.name == "fieldOrder" })
        // Between two arms over curl nothing is known.
        let curls = Self.compare(
            Self.times(20) { _ in Self.response("{}", fields: apart) },
            with: Self.times(20) { _ in Self.response("{}", fields: [("X-A", "1, 2")]) }, kinds: ("curl", "curl"))
        #expect(curls.differences.allSatisfy { $0.known == nil })
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

    /// Regression: a list of names was called a secret when one of them is `Set-Cookie`.
    @Test func `the order of fields is shown, whatever they are called`() {
        func arm(_ names: [String]) -> [RecordedResponse] {
            Self.times(20) { _ in Self.response("{}", fields: names.map { ($0, "1") }) }
        }
        let result = Self.compare(
            arm(["Set-Cookie", "X-A"]), with: arm(["X-A", "Set-Cookie"]), kinds: ("curl", "curl"))
        let order = result.differences.first { $0.place == "fieldOrder" }
        #expect(order?.example.0.contains("set-cookie, x-a") == true, "\(result.differences)")
    }

    @Test func `statuses and errors are compared, and the rest by status`() {
        let first = Self.times(120) { Self.response("a", status: $0 < 60 ? 200 : 404, type: nil) }
        let other = Self.times(120) { $0 < 60 ? Self.response("b", type: nil) : Self.failure("idleTimeout") }
        let result = Self.compare(first, with: other)
        #expect(result.differences.map(\.place) == ["status", "error", "text:1/1"])
        #expect(result.differences[1].example == ("'none'", "'idleTimeout'"))
        #expect(Self.tally(other).outcomes.errors == ["idleTimeout": 60])
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
        let result = Self.compare(
            Self.times(10) { _ in Self.response(left) }, with: Self.times(10) { _ in Self.response(right) })
        #expect(!result.differences.isEmpty)
    }

    @Test func `names in lower case are known between versions of HTTP`() {
        let upper = Self.times(10) { _ in Self.response("{}", fields: [("X-A", "1"), ("ETag", "2")]) }
        let lower = Self.times(10) { _ in Self.response("{}", type: nil, fields: [("x-a", "1"), ("etag", "2")]) }
        let result = Self.compare(upper, with: lower, kinds: ("curl", "curl"))
        #expect(result.differences.first { $0.place == "fieldCase" }?.known == nil)
        let typed = Self.times(10) { _ in
            Self.response("{}", type: nil, fields: [("x-a", "1"), ("etag", "2"), ("content-type", "application/json")])
        }
        let versions = Self.compare(upper, with: typed, kinds: ("curl", "curl"))
        #expect(versions.differences.first { $0.place == "fieldCase" }?.known?.name == "lowercaseNames")
    }

    /// Regression: a known failure was also a difference of statuses, which is a new one.
    @Test func `a failure is one difference`() {
        let result = Self.compare(
            Self.times(10) { _ in Self.response("a") }, with: Self.times(10) { _ in Self.failure("invalidResponse") })
        #expect(result.differences.map(\.place) == ["error"])
        #expect(result.differences.first?.known?.name == "headOfOddBytes")
    }

    /// Regression: redirects were compared as they are printed, without their queries.
    @Test func `redirects to other queries differ, and the queries are not shown`() throws {
        func tally(_ query: String) -> ContentTally {
            var response = Self.response("x", type: nil)
            response.redirects = ["302 http://h/a?token=\(query)"]
            return Self.tally([response, response])
        }
        let contents = ContentComparison(
            tally("CANARY1"), copy: tally("CANARY1"), tally("CANARY2"), kinds: ("a", "b"), sentNames: [])
        let difference = try #require(contents.differences.first { $0.place == "redirects" })
        #expect(difference.example == ("URLs with a query or a fragment", "another one"))
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
        func some(_ text: String) -> [RecordedResponse] {
            Self.times(10) { _ in Self.response(text, type: "text/event-stream") }
        }
        #expect(Self.compare(some(left), with: some(right)).differences.map(\.place) == places)
    }

    @Test func `events of other bytes that are no UTF-8 differ`() {
        func some(_ byte: UInt8) -> [RecordedResponse] {
            Self.times(10) { _ in
                var response = Self.response(type: "text/event-stream")
                response.setBody(Data("data: a".utf8) + [byte] + Data("\n\n".utf8))
                return response
            }
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

    @Test func `an event of a secret type is not shown`() {
        func some(_ text: String) -> [RecordedResponse] {
            Self.times(10) { _ in Self.response("event: token\ndata: \(text)\n\n", type: "text/event-stream") }
        }
        let difference = Self.compare(some("S3CR3T"), with: some("other")).differences[0]
        #expect(!difference.text(("a", "b")).contains("S3CR3T"))
    }

    /// Regression: a part that came when there was no room was dropped, and a part that only one arm had room for was
    /// one that the other arm lacked.
    @Test func `parts without room are counted, and are no differences`() {
        func wide(_ start: Int, last: String = "") -> [RecordedResponse] {
            Self.times(41) { number in
                let keys = (0..<500).map { #""k\#(start + number * 500 + $0)":1"# }.joined(separator: ",")
                return Self.response(number == 40 ? #"{\#(keys)\#(last)}"# : "{\(keys)}")
            }
        }
        let first = Self.tally(wide(0))
        #expect(first.partsNotCompared == 500)
        let other = Self.tally(wide(0, last: #","error":"BROKEN""#))
        let result = ContentComparison(first, copy: first, other, kinds: ("curl", "curl"), sentNames: [])
        #expect(result.differences.isEmpty && result.isPartial)
        let some = Self.times(5) { _ in Self.response("{}") }
        #expect(!Self.compare(some, with: some).isPartial)
        // What only one arm has room for is not missing over the other one.
        let backwards = Self.tally(wide(0).reversed())
        let turned = ContentComparison(first, copy: first, backwards, kinds: ("curl", "curl"), sentNames: [])
        #expect(turned.differences.isEmpty && turned.isPartial)
    }

    @Test func `header fields of other bytes are different responses`() {
        let (left, right) = ("caf\u{E9}", "cafe\u{301}")
        #expect(Self.response("", fields: [("X-A", left)]) != Self.response("", fields: [("X-A", right)]))
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

    @Test func `secrets are not printed, and control characters are visible`() {
        func fields(_ value: String) -> [RecordedResponse] {
            Self.times(20) { _ in
                Self.response(
                    #"{"access_token":"t-\#(value)","plain":"\u001b[2J\#(value)","auth":["Bearer x\#(value)"]}"#,
                    fields: [("X-Api-Key", "k-\(value)"), ("Location", "http://u:p@h/?q=\(value)")])
            }
        }
        let result = Self.compare(fields("one"), with: fields("two"))
        let text = result.differences.map { $0.text(("a", "b")) }.joined(separator: "\n")
        #expect(result.differences.count == 5)
        for secret in ["t-one", "k-one", "t-two", "u:p", "q=", "Bearer", "\u{1B}"] { #expect(!text.contains(secret)) }
        #expect(text.contains(#"\u{1B}[2Jone"#) || text.contains(#"\u{001B}[2Jone"#))
    }

    @Test(arguments: ["Basic dXNlcjpwdw==", "Digest username=\"canary\", response=\"canary\"", "NTLM TlRMTVNTUAAB"])
    func `the value of Authorization is not printed, whatever its key`(_ value: String) throws {
        func responses(_ end: String) -> [RecordedResponse] {
            let text = String(decoding: JSONValue.string(value + end).line, as: UTF8.self)
            return Self.times(20) { _ in Self.response(#"{"received":\#(text)}"#) }
        }
        let result = Self.compare(responses("A"), with: responses("B"))
        let difference = try #require(result.differences.first)
        #expect(difference.place == "json:/received")
        #expect(!difference.text(("a", "b")).contains(value.suffix(6)), "\(difference.text(("a", "b")))")
    }

    /// Regression: each response with a field of its own cost the parsing and counting of its whole body.
    @Test func `responses with the same body cost little more than one`() {
        let members = (0..<1_000).map { "\"k\($0)\":\($0)" }.joined(separator: ",")
        func tally(_ count: Int) -> ContentTally {
            var tally = ContentTally()
            for number in 0..<count {
                var response = Self.response("{\(members)}", fields: [("X-Request-ID", "\(number)")])
                if number > 0 { (response.body, response.bodyOf) = (Data(), 0) }
                tally.learn(response, as: number)
            }
            tally.count(Dictionary(uniqueKeysWithValues: (0..<count).map { ($0, 1) }))
            return tally
        }
        let (one, many) = (tally(1), tally(200))
        #expect(many.tally(of: "json:/k7", status: 200).onlyValue == one.tally(of: "json:/k7", status: 200).onlyValue)
        #expect(many.tally(of: "json:/k7", status: 200).total == 200)
        #expect(many.tally(of: "field:x-request-id", status: 200).counts.count == 200)
        let most = cost(rounds: 2) { _ = tally(1) }
        #expect(!costsMore(than: most * 10) { _ = tally(200) })
    }

    @Test func `the same body under another type is taken apart anew`() {
        var tally = ContentTally()
        tally.learn(Self.response(#"{"a":1}"#), as: 0)
        var other = Self.response(type: "application/octet-stream")
        other.bodyOf = 0
        tally.learn(other, as: 1)
        tally.count([0: 2, 1: 3])
        #expect(tally.tally(of: "json:/a", status: 200).count(of: PartValue("1", kind: "number")) == 2)
        #expect(tally.tally(of: "json:/a", status: 200).count(of: .absent) == 3)
        #expect(tally.tally(of: "body", status: 200).count(of: PartValue(#"{"a":1}"#)) == 3)
        #expect(tally.body(with: PartValue(#"{"a":1}"#)) == Data(#"{"a":1}"#.utf8))
        other.bodyOf = 7
        tally.learn(other, as: 2)
        tally.count(2)
        #expect(tally.notCompared == 1)
    }

    @Test func `the number of differences is bounded`() {
        func wide(_ value: Int) -> [RecordedResponse] {
            let members = (0..<300).map { #""k\#($0)":\#(value)"# }.joined(separator: ",")
            return Self.times(20) { _ in Self.response("{\(members)}") }
        }
        let result = Self.compare(wide(1), with: wide(2))
        #expect(result.differences.count == ContentComparison.maximumDifferences && result.unlisted == (0, 200))
    }

    @Test func `known differences leave room for new ones`() {
        func responses(_ separator: String, price: Int) -> [RecordedResponse] {
            Self.times(20) { _ in
                var response = Self.response(#"{"price":\#(price)}"#)
                for number in 0..<150 {
                    for value in separator == "\n" ? ["1", "2"] : ["1, 2"] {
                        response.fields.append(.init("X-\(number)", value))
                    }
                }
                return response
            }
        }
        let result = Self.compare(responses("\n", price: 1), with: responses(", ", price: 2))
        #expect(result.differences.contains { $0.place == "json:/price" && $0.known == nil })
        // The order of the fields differs, too.
        #expect(result.differences.count { $0.known != nil } == 100 && result.unlisted == (51, 0))
    }

    /// Over URLSession the names of the request's fields have another case, and a server may repeat them.
    @Test func `case alone is a known difference in names of fields that were sent, and nowhere else`() {
        func echo(_ text: String) -> [RecordedResponse] { Self.times(20) { _ in Self.response(#"{"a":"\#(text)"}"#) } }
        func known(_ left: String, _ right: String) -> Bool? {
            Self.compare(echo(left), with: echo(right), names: [HTTPField.Name("X-Mine")!]).differences.first
                .map { $0.known?.name == "requestFieldCase" }
        }
        #expect(known("x-mine", "X-Mine") == true)
        #expect(known("user-agent: a, x-mine: B", "User-Agent: a, X-Mine: B") == true)
        #expect(known("EUR", "eur") == false)
        #expect(known("x-mine: A", "X-Mine: a") == false)
        #expect(known("x-other", "X-Other") == false)
    }

    /// Regression: any other case was known over URLSession, and so was no failure.
    @Test(
        arguments: [
            ("ETag", "Etag", "fieldOrder"), ("www-authenticate", "WWW-Authenticate", "fieldOrder"),
            ("X-Thing", "x-thing", nil),
            ("x-thing", "X-Thing", nil), ("Etag", "ETag", nil), ("Server", "server", nil),
        ] as [(String, String, String?)])
    func `the case of a name is known where URLSession makes it`(curl: String, session: String, name: String?) throws {
        func named(_ names: [String]) -> [RecordedResponse] {
            Self.times(20) { _ in Self.response("x", type: nil, fields: names.map { ($0, "1") }) }
        }
        let result = Self.compare(named([curl, "Date-X"]), with: named([session, "Date-X"]))
        #expect(try #require(result.differences.first { $0.place == "fieldCase" }).known?.name == name)
        let repeated = Self.compare(named(["X-A", "x-a", "Zeta"]), with: named(["x-a", "Zeta"]))
        let place = try #require(repeated.differences.first { $0.place == "fieldCase" })
        #expect(place.known?.name == "repeatedFieldsOfOtherCase")
    }

    @Test func `header fields and keys with secrets in them are not shown`() throws {
        func response(_ number: Int) -> [RecordedResponse] {
            let token = "eyJhbGciOiJIUzI1NiJ9.eyJhIjoxfQ.CANARY\(number)"
            return Self.times(20) { _ in
                Self.response(
                    #"{"\#(token)":1,"https://u:CANARY\#(number)@h/":2,"Bearer CANARY\#(number)":3}"#,
                    fields: [("X-Debug", "a; password=CANARY\(number)"), ("X-B", "\(number)")])
            }
        }
        let result = Self.compare(response(1), with: response(2))
        #expect(Set(result.differences.map(\.place)).isSuperset(of: ["field:x-debug", "field:x-b", "json:/…"]))
        for difference in result.differences { #expect(!difference.text(("a", "b")).contains("CANARY")) }
    }

    @Test func `keys that change from response to response are set aside, and a key of one arm alone is not`() {
        func sessions(_ start: Int, extra: String = "") -> [RecordedResponse] {
            Self.times(80) { Self.response(#"{"sessions":{"k\#(start + $0)":{"user":"a"}\#(extra)},"b":1}"#) }
        }
        let equal = Self.compare(sessions(0), sessions(1_000), sessions(2_000))
        #expect(equal.differences.isEmpty && equal.noise.map(\.place) == ["json:/sessions/…"])
        let other = Self.compare(sessions(0), sessions(1_000), sessions(2_000, extra: #","new":1"#))
        #expect(other.differences.map(\.wholePlace) == ["json:/sessions/new"])
        let without = Self.compare(
            sessions(0, extra: #","old":1"#), sessions(1_000, extra: #","old":1"#), sessions(2_000))
        #expect(without.differences.map(\.wholePlace) == ["json:/sessions/old"])
    }

    /// Regression: from some 1,000 responses on, a timestamp was a new difference between equal arms, and from 6,000 on
    /// a string in place of a number was none: only the first 2,000 values were told apart.
    @Test(arguments: [500, 900, 1_050, 1_500, 3_000, 6_000, 50_000])
    func `values that change with each response are noise, and another kind of them is none`(count: Int) {
        func tally(_ arm: Int, oddities: Int = .max) -> PartTally {
            var tally = PartTally()
            for number in 0..<count {
                let round = ExperimentRound(process: number % 8, number: number * 40 / count)
                let kind = number % oddities == 3 && oddities < .max ? "string" : "number"
                tally.add(PartValue("\(number * 3 + arm)", kind: kind), in: round)
            }
            return tally
        }
        let (first, copy) = (tally(0), tally(1))
        let base = first.adding(copy)
        #expect(!ContentComparison.differs(base, first, copy, tally(2)))
        #expect(ContentComparison.differs(base, first, copy, tally(2, oddities: 20)))
    }

    @Test func `a timestamp in 1,050 responses is noise`() {
        func arm(_ start: Int) -> [RecordedResponse] { Self.times(1_050) { Self.response(#"{"at":\#(start + $0)}"#) } }
        let result = Self.compare(arm(0), arm(10_000), arm(20_000))
        #expect(result.differences.isEmpty && result.noise.map(\.place) == ["json:/at"], "\(result.differences)")
    }

    @Test func `a place below a key that names a secret is not shown`() {
        func keyed(_ value: Int) -> [RecordedResponse] {
            Self.times(20) { _ in Self.response(#"{"tokens":{"S3CR3T":{"user":\#(value)}}}"#) }
        }
        let difference = Self.compare(keyed(1), with: keyed(2)).differences[0]
        #expect(difference.place == "json:/tokens/…" && !difference.text(("a", "b")).contains("S3CR3T"))
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
