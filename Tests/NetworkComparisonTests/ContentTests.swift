import Foundation
import JSONText
import NetworkCore
import struct NetworkComparison.SeededGenerator
import TestSupport
import Testing

@testable import NetworkComparison

@Suite("Contents of a comparison")
struct ContentTests: ContentSuite {
    @Test func `equal responses do not differ`() {
        let some = Self.times(20) { _ in Self.response(#"{"a":1}"#) }
        let result = Self.compare(some, with: some)
        #expect(result.differences.isEmpty && result.noise.isEmpty && !result.isEmpty)
        #expect(Self.compare(some, with: []).isEmpty)
        // Regression: arms that failed alike were said to respond alike.
        let failed = Self.times(20) { _ in Self.failure("connectFailed") }
        #expect(Self.compare(failed, with: failed).isEmpty && Self.compare(some, with: failed).isEmpty)
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

    @Test func `statuses and errors are compared, and the rest by status`() {
        let first = Self.times(120) { Self.response("a", status: $0 < 60 ? 200 : 404, type: nil) }
        let other = Self.times(120) { $0 < 60 ? Self.response("b", type: nil) : Self.failure("idleTimeout") }
        let result = Self.compare(first, with: other)
        #expect(result.differences.map(\.place) == ["status", "error", "text:1/1"])
        #expect(result.differences[1].example == ("'none'", "'idleTimeout'"))
        #expect(Self.tally(other).outcomes.errors == ["idleTimeout": 60])
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

    /// Each arm has met another part of the values when there are too many to tell apart.
    @Test(arguments: [1_500, 2_500, 4_000, 20_000])
    func `equal arms with thousands of values that come again don't differ`(pool: Int) {
        var generator = SeededGenerator(seed: UInt64(pool))
        func tally() -> PartTally {
            var tally = PartTally()
            for number in 0..<8_000 {
                let value = PartValue("\(Int.random(in: 0..<pool, using: &generator))")
                tally.add(value, in: ExperimentRound(process: number / 1_000, number: number / 200))
            }
            return tally
        }
        let found = (0..<10).count { _ in
            let (first, copy, other) = (tally(), tally(), tally())
            return ContentComparison.differs(first.adding(copy), first, copy, other)
        }
        #expect(found <= 1, "\(found) of 10")
    }

    @Test func `a timestamp in 1,050 responses is noise`() {
        func arm(_ start: Int) -> [RecordedResponse] { Self.times(1_050) { Self.response(#"{"at":\#(start + $0)}"#) } }
        let result = Self.compare(arm(0), arm(10_000), arm(20_000))
        #expect(result.differences.isEmpty && result.noise.map(\.place) == ["json:/at"], "\(result.differences)")
    }
}
