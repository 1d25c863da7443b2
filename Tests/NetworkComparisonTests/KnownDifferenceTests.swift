import JSONText
import Foundation
import NetworkCore
import TestSupport
import Testing

@testable import NetworkComparison

@Suite("Differences that are known, and what is shown")
struct KnownDifferenceTests: ContentSuite {
    @Test func `differences between the transports are known by name`() {
        let apart = [("X-A", "1"), ("X-A", "2")]
        let result = Self.compare(
            Self.response("{}", fields: apart), with: Self.response("{}", fields: [("X-A", "1, 2")]))
        #expect(result.differences.map(\.place) == ["field:x-a", "fieldOrder"])
        #expect(result.differences.allSatisfy { $0.known?.name == "fieldOrder" })
        // Between two arms over curl nothing is known.
        let curls = Self.compare(
            Self.response("{}", fields: apart), with: Self.response("{}", fields: [("X-A", "1, 2")]),
            kinds: ("curl", "curl"))
        #expect(curls.differences.allSatisfy { $0.known == nil })
    }

    @Test func `names in lower case are known between versions of HTTP`() {
        let upper = Self.response("{}", fields: [("X-A", "1"), ("ETag", "2")])
        let lower = Self.response("{}", type: nil, fields: [("x-a", "1"), ("etag", "2")])
        let result = Self.compare(upper, with: lower, kinds: ("curl", "curl"))
        #expect(result.differences.first { $0.place == "fieldCase" }?.known == nil)
        let typed = Self.response(
            "{}", type: nil, fields: [("x-a", "1"), ("etag", "2"), ("content-type", "application/json")])
        let versions = Self.compare(upper, with: typed, kinds: ("curl", "curl"))
        #expect(versions.differences.first { $0.place == "fieldCase" }?.known?.name == "lowercaseNames")
    }

    /// Regression: a known failure was also a difference of statuses, which is a new one.
    @Test func `a failure is one difference`() {
        let result = Self.compare(Self.response("a"), with: Self.failure("invalidResponse"))
        #expect(result.differences.map(\.place) == ["error"])
        #expect(result.differences.first?.known?.name == "headOfOddBytes")
    }

    @Test func `known differences leave room for new ones`() {
        func responses(_ separator: String, price: Int) -> RecordedResponse {
            var response = Self.response(#"{"price":\#(price)}"#)
            for number in 0..<150 {
                for value in separator == "\n" ? ["1", "2"] : ["1, 2"] {
                    response.fields.append(.init("X-\(number)", value))
                }
            }
            return response
        }
        let result = Self.compare(responses("\n", price: 1), with: responses(", ", price: 2))
        #expect(result.differences.contains { $0.place == "json:/price" && $0.known == nil })
        // The order of the fields differs, too.
        #expect(result.differences.count { $0.known != nil } == 100 && result.unlisted == (51, 0))
    }

    /// Over URLSession the names of the request's fields have another case, and a server may repeat them.
    @Test func `case alone is a known difference in names of fields that were sent, and nowhere else`() {
        func echo(_ text: String) -> RecordedResponse { Self.response(#"{"a":"\#(text)"}"#) }
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
        func named(_ names: [String]) -> RecordedResponse {
            Self.response("x", type: nil, fields: names.map { ($0, "1") })
        }
        let result = Self.compare(named([curl, "Date-X"]), with: named([session, "Date-X"]))
        #expect(try #require(result.differences.first { $0.place == "fieldCase" }).known?.name == name)
        let repeated = Self.compare(named(["X-A", "x-a", "Zeta"]), with: named(["x-a", "Zeta"]))
        let place = try #require(repeated.differences.first { $0.place == "fieldCase" })
        #expect(place.known?.name == "repeatedFieldsOfOtherCase")
    }

    /// Regression: a list of names was called a secret when one of them is `Set-Cookie`.
    @Test func `the order of fields is shown, whatever they are called`() {
        func arm(_ names: [String]) -> RecordedResponse {
            Self.response("{}", fields: names.map { ($0, "1") })
        }
        let result = Self.compare(
            arm(["Set-Cookie", "X-A"]), with: arm(["X-A", "Set-Cookie"]), kinds: ("curl", "curl"))
        let order = result.differences.first { $0.place == "fieldOrder" }
        #expect(order?.example.0.contains("set-cookie, x-a") == true, "\(result.differences)")
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

    @Test func `an event of a secret type is not shown`() {
        func some(_ text: String) -> RecordedResponse {
            Self.response("event: token\ndata: \(text)\n\n", type: "text/event-stream")
        }
        let difference = Self.compare(some("S3CR3T"), with: some("other")).differences[0]
        #expect(!difference.text(("a", "b")).contains("S3CR3T"))
    }

    @Test func `secrets are not printed, and control characters are visible`() {
        func fields(_ value: String) -> RecordedResponse {
            Self.response(
                #"{"access_token":"t-\#(value)","plain":"\u001b[2J\#(value)","auth":["Bearer x\#(value)"]}"#,
                fields: [("X-Api-Key", "k-\(value)"), ("Location", "http://u:p@h/?q=\(value)")])
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

    @Test func `header fields and keys with secrets in them are not shown`() throws {
        func response(_ number: Int) -> RecordedResponse {
            let token = "eyJhbGciOiJIUzI1NiJ9.eyJhIjoxfQ.CANARY\(number)"
            return Self.response(
                #"{"\#(token)":1,"https://u:CANARY\#(number)@h/":2,"Bearer CANARY\#(number)":3}"#,
                fields: [("X-Debug", "a; password=CANARY\(number)"), ("X-B", "\(number)")])
        }
        let result = Self.compare(response(1), with: response(2))
        #expect(Set(result.differences.map(\.place)).isSuperset(of: ["field:x-debug", "field:x-b", "json:/…"]))
        for difference in result.differences { #expect(!difference.text(("a", "b")).contains("CANARY")) }
    }

    @Test func `a place below a key that names a secret is not shown`() {
        func keyed(_ value: Int) -> RecordedResponse {
            Self.response(#"{"tokens":{"S3CR3T":{"user":\#(value)}}}"#)
        }
        let difference = Self.compare(keyed(1), with: keyed(2)).differences[0]
        #expect(difference.place == "json:/tokens/…" && !difference.text(("a", "b")).contains("S3CR3T"))
    }
}
