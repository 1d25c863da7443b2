import Foundation
import NetworkTesting
import TestSupport
import Testing

@testable import NetworkCore

struct TypeNameTests {
    struct Account: Decodable { let id: Int }
    private enum Box<Value> { struct Inner {} }

    @Test func `names are as a program spells them`() {
        struct Local {}
        #expect(TypeName.of(Account.self) == "Account")
        #expect(TypeName.of([Account].self) == "[Account]")
        #expect(TypeName.of([String: [Account?]]?.self) == "[String: [Account?]]?")
        #expect(TypeName.of(Box<Int>.self) == "Box<Int>")
        #expect(TypeName.of(Box<Int>.Inner.self) == "Inner")
        #expect(TypeName.of(Local.self) == "Local")
        #expect(TypeName.of((Int, String).self) == "(Int, String)")
        #expect(TypeName.of((@Sendable () -> Void).self).contains("->"))
    }

    @Test func `the articles of type names fit`() {
        #expect(TypeName.withArticle(Int.self) == "an Int")
        #expect(TypeName.withArticle(UInt8.self) == "a UInt8")
        #expect(TypeName.withArticle(Account.self) == "an Account")
        #expect(TypeName.withArticle([Any].self) == "an array")
        #expect(TypeName.withArticle([String: Any].self) == "an object")
        #expect(TypeName.withArticle([Int].self) == "a [Int]")
    }

    @Test(arguments: [
        (#"[{"id":"x"}]"#, "the body is not a [Account]: an Int was expected, and a string found at [0].id"),
        (#"[{"id":[]}]"#, "the body is not a [Account]: an Int was expected, and an array found at [0].id"),
        ("{}", "the body is not a [Account]: an array was expected, and an object found"),
    ])
    func `errors say what was found`(body: String, message: String) async throws {
        let answer = StubResponse.text(body, headerFields: [.contentType: "application/json"])
        let client = NetworkClient(transport: StubTransport(always: answer))
        let error = await #expect(throws: NetworkError.self) {
            _ = try await client.send(RequestData(url: "http://h/"), as: [Account].self)
        }
        #expect(error?.message == message)
    }

    @Test func `a page in place of JSON is named`() async throws {
        let page = StubResponse.text("<html>", headerFields: [.contentType: "text/html; charset=utf-8"])
        let client = NetworkClient(transport: StubTransport(always: page))
        let error = await #expect(throws: NetworkError.self) {
            _ = try await client.send(RequestData(url: "http://h/"), as: [Account].self)
        }
        #expect(error?.message.hasSuffix("; its Content-Type is text/html") == true)
    }
}

@Suite(.patience(minutes: 1))
struct ProblemDetailsTests {
    private let example = """
        {"type":"https://example.com/probs/out-of-credit","title":"You do not have enough credit.","status":403,
        "detail":"Your current balance is 30, but that costs 50.","instance":"/account/12345/msgs/abc",
        "balance":30,"accounts":["/account/12345","/account/67890"],"nested":{"a":[true,null,2.5]}}
        """

    private func failure(_ body: String, type: String = "application/problem+json") async throws -> NetworkError {
        let stub = StubTransport(always: .text(body, status: 403, headerFields: [.contentType: type]))
        return try await #require(throws: NetworkError.self) {
            try await NetworkClient(transport: stub).send(RequestData(path: "http://127.0.0.1/"), as: .data).body
        }
    }

    @Test func `the example of the standard is read`() async throws {
        let error = try await failure(example)
        let problem = try #require(error.problem)
        #expect(problem.type == "https://example.com/probs/out-of-credit")
        #expect(problem.title == "You do not have enough credit.")
        #expect(problem.status == 403)
        #expect(problem.detail == "Your current balance is 30, but that costs 50.")
        #expect(problem.instance == "/account/12345/msgs/abc")
        #expect(
            problem.extensions == [
                "balance": 30, "accounts": ["/account/12345", "/account/67890"], "nested": ["a": [true, nil, 2.5]],
            ]
        )
        #expect(!error.description.contains("credit"))
        #expect(error.unredactedDescription.contains("credit"))
    }

    @Test func `members of a wrong kind are ignored`() throws {
        let problem = try #require(
            ProblemDetails(json: Data(#"{"type":1,"title":[],"status":"403","detail":null,"x":"y"}"#.utf8)))
        #expect(problem.type == "about:blank")
        #expect(problem.title == nil && problem.status == nil && problem.detail == nil)
        #expect(problem.extensions == ["x": "y"])
    }

    @Test(arguments: ["", "[]", "null", "1", "{", "<html>", "\u{0}"])
    func `JSON that is no object is no problem`(body: String) { #expect(ProblemDetails(json: Data(body.utf8)) == nil) }

    @Test func `other content types are no problems`() async throws {
        #expect(try await failure(example, type: "application/json").problem == nil)
        #expect(try await failure(example, type: "Application/Problem+JSON; charset=utf-8").problem != nil)
    }

    /// Regression: each value was tried as five types, which took seconds for 64 KiB of brackets.
    @Test(arguments: ["[]", "{}", "[[]]", "\"\"", "1e1", "[{\"a\":[]}]"])
    func `bodies of any kind cost about the same`(item: String) throws {
        func body(_ item: String) -> Data {
            let count = 60_000 / (item.utf8.count + 1)
            return Data(#"{"list":[\#(Array(repeating: item, count: count).joined(separator: ","))]}"#.utf8)
        }
        let (ordinary, hostile) = (body(#""a text of some length, as servers write it""#), body(item))
        #expect(ProblemDetails(json: hostile)?.extensions["list"] != nil)
        let usual = cost { _ = ProblemDetails(json: ordinary) }
        #expect(cost { _ = ProblemDetails(json: hostile) } < usual * 30)
    }

    @Test func `values are read as parameters hold them`() throws {
        let json =
            #"{"i":-7,"w":1.0,"e":1e2,"d":2.5,"b":9223372036854775808,"p":9007199254740993.0,"m":0.1234567890123456789,"x":1e999,"n":null,"t":"\u00e9\ud83d\ude00\n","o":{"a":[{}]}}"#
        let problem = try #require(ProblemDetails(json: Data(json.utf8)))
        #expect(
            problem.extensions == [
                "i": -7, "w": 1, "e": 100, "d": 2.5, "b": .unsigned(9_223_372_036_854_775_808),
                "p": .int(9_007_199_254_740_993),
                "m": .decimal(Decimal(string: "0.1234567890123456789")!), "n": nil, "t": "é😀\n",
                "o": ["a": [[:]]],
            ])
        #expect(ProblemDetails(json: Data(#"{"title":"t","a":1e999}"#.utf8))?.title == "t")
        #expect(ProblemDetails(json: Data(#"{"a":1}x"#.utf8)) == nil)
        #expect(ProblemDetails(json: Data(#"{"status":4e2}"#.utf8))?.status == 400)
        #expect(ProblemDetails(json: Data(#"{"a":1,"a":2}"#.utf8))?.extensions.count == 1)
    }

    @Test func `size and depth have limits`() {
        let large = #"{"title":"\#(String(repeating: "x", count: ProblemDetails.maximumBytes))"}"#
        #expect(ProblemDetails(json: Data(large.utf8)) == nil)
        let deep = #"{"a":"# + String(repeating: "[", count: 200) + String(repeating: "]", count: 200) + "}"
        #expect(ProblemDetails(json: Data(deep.utf8)) == nil)
    }
}
