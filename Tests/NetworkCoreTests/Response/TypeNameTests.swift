import NetworkTesting
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
