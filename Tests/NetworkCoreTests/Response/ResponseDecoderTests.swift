import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

private struct User: Codable, Equatable, Sendable { let userName: String }

private struct Delete: RequestType {
    typealias ResponseType = Empty
    var data: RequestData { RequestData(path: "http://127.0.0.1/1", method: .delete) }
}

private struct Find: RequestType {
    typealias ResponseType = User?
    var data: RequestData { RequestData(path: "http://127.0.0.1/1") }
}

@Suite(.patience(minutes: 1))
struct ResponseDecoderTests {
    private let request = RequestData(path: "http://127.0.0.1/")

    @Test func `JSON takes other strategies`() async throws {
        let client = NetworkClient(transport: StubTransport(always: .text(#"{"user_name":"Ada"}"#)))
        let decoding = client.with { $0.decoder = .json { $0.keyDecodingStrategy = .convertFromSnakeCase } }
        #expect(try await decoding.send(request, as: User.self).body == User(userName: "Ada"))
        #expect(try await Find().send(over: decoding).body == User(userName: "Ada"), "the pipeline's strategies apply")
        await expectFailure(.decodingFailed) { try await client.send(request, as: User.self).body.userName }
    }

    @Test func `a closure brings any decoder`() async throws {
        let list = try PropertyListEncoder().encode(User(userName: "Ada"))
        let stub = StubTransport(always: .bytes(list))
        let client = NetworkClient(transport: stub).with {
            $0.decoder = .using { type, body in try PropertyListDecoder().decode(type, from: body) }
        }
        #expect(try await client.send(request, as: User.self).body == User(userName: "Ada"))
    }

    @Test func `a closure that makes another type is an error`() async throws {
        let client = NetworkClient(transport: StubTransport(always: .text("1"))).with {
            $0.decoder = .using { _, _ in 1 }
        }
        let error = await expectFailure(.decodingFailed) {
            try await client.send(request, as: User.self).body.userName
        }
        #expect(error?.response?.status == .ok)
    }

    @Test func `a custom decoder sees the head`() async throws {
        struct ByType: ResponseDecoder {
            func decode<Value: Decodable & SendableMetatype>(
                _ type: Value.Type,
                from body: Data,
                of head: HTTPResponse
            ) throws -> sending Value {
                let json = #"{"userName":"\#(head.headerFields[.contentType] ?? "")"}"#
                return try JSONDecoder().decode(type, from: Data(json.utf8))
            }
        }
        let stub = StubTransport(always: .text("anything", headerFields: [.contentType: "text/x"]))
        let client = NetworkClient(transport: stub).with { $0.decoder = ByType() }
        #expect(try await client.send(request, as: User.self).body == User(userName: "text/x"))
    }

    @Test(arguments: [(204, ""), (200, ""), (200, "ignored"), (202, "{}")])
    func `an empty response needs no body and drops one`(status: Int, body: String) async throws {
        let client = NetworkClient(transport: StubTransport(always: .text(body, status: status)))
        #expect(try await client.send(Delete()).body == Empty())
        #expect(try await Delete().send(over: client).body == Empty())
    }

    @Test(arguments: [204, 205, 200]) func `an optional is nil without a body`(status: Int) async throws {
        let client = NetworkClient(transport: StubTransport(always: .text("", status: status)))
        #expect(try await client.send(Find()).body == nil)
        #expect(try await Find().send(over: client).body == nil)
        await expectFailure(.noData) { try await client.send(request, as: User.self).body.userName }
    }

    @Test func `an optional is decoded with a body`() async throws {
        let client = NetworkClient(transport: StubTransport(always: .text(#"{"userName":"Ada"}"#)))
        #expect(try await client.send(Find()).body == User(userName: "Ada"))
        #expect(
            try await NetworkClient(transport: StubTransport(always: .text("null"))).send(Find()).body == nil)
        await expectFailure(.decodingFailed) {
            try await NetworkClient(transport: StubTransport(always: .text("[]"))).send(Find()).body?.userName
        }
    }

    private enum Role: String, Codable, Sendable { case admin }

    /// Regression: the description, which goes into logs, contained the value, the decoder's own text, and a
    /// dictionary's keys.
    @Test func `the description holds nothing of the body`() async throws {
        struct Own: Error { let token = "secret" }
        let role = NetworkClient(transport: StubTransport(always: .text(#"{"secret-key":["secret-value"]}"#)))
        let error = await expectFailure(.decodingFailed) {
            try await role.send(request, as: [String: [Role]].self).body.count
        }
        #expect(error?.description.contains("secret") == false)
        #expect(error?.description.contains("the data is not valid at …[0]") == true)
        #expect(error?.decoding?.codingPath == "secret-key[0]")
        #expect(error?.decoding?.reason.contains("secret-value") == true)
        #expect(error?.unredactedDescription.contains("the decoder says: the data is not valid: ") == true)
        #expect(error?.unredactedDescription.contains("secret-key[0]") == true)

        let own = NetworkClient(transport: StubTransport(always: .text("1")))
            .with { $0.decoder = .using { _, _ -> Int in throw Own() } }
        let other = await expectFailure(.decodingFailed) { try await own.send(request, as: Int.self).body }
        #expect(other?.description.contains("secret") == false)
        #expect(other?.description.contains("the decoder failed with Own") == true)
        #expect(other?.decoding?.reason.contains("secret") == true)

        let user = NetworkClient(transport: StubTransport(always: .text(#"{"secret":{}}"#)))
        let missing = await expectFailure(.decodingFailed) {
            try await user.send(request, as: [String: User].self).body.count
        }
        #expect(missing?.description.hasSuffix("not a [String: User]: the key 'userName' is missing at …") == true)
        let alone = await expectFailure(.decodingFailed) {
            try await NetworkClient(transport: StubTransport(always: .text("{}"))).send(request, as: User.self)
        }
        #expect(alone?.description.hasSuffix("the body is not a User: the key 'userName' is missing") == true)
    }

    /// Regression: a decoder's words were as long as the server wanted, with its control characters.
    @Test func `what an error quotes of a body has a limit, and no control characters`() async throws {
        let long = String(repeating: "x", count: 1 << 20)
        for body in [#"{"\#(long)":["\u001b[31m"]}"#, #"{"key":["\#(long)"]}"#] {
            let client = NetworkClient(transport: StubTransport(always: .text(body)))
            let error = await expectFailure(.decodingFailed) {
                try await client.send(request, as: [String: [Role]].self).body.count
            }
            let decoding = try #require(error?.decoding)
            #expect(decoding.codingPath.utf8.count < 600 && decoding.reason.utf8.count < 700)
            #expect(error.map { $0.unredactedDescription.utf8.count < 3_000 } == true)
            #expect(!decoding.reason.contains("\u{1B}") && error?.unredactedDescription.contains("\u{1B}") == false)
        }
    }

    private enum Places: Int, CodingKey { case first = 7 }
    private struct Seventh: Decodable, Sendable {
        init(from decoder: any Decoder) throws {
            _ = try decoder.container(keyedBy: Places.self).decode([Role].self, forKey: .first)
        }
    }

    /// Regression: a key of digits has an integer value too, as an array's index does, and was printed as one.
    @Test(arguments: ["4111111111111111", "0", "-7", "Index 3", "3", "secret"])
    func `a key of the body is not shown, and an index is`(key: String) async throws {
        func failure<Value: Decodable & Sendable>(_ type: Value.Type, _ body: String) async -> NetworkError? {
            let client = NetworkClient(transport: StubTransport(always: .text(body)))
            return await expectFailure(.decodingFailed) { _ = try await client.send(request, as: type).body }
        }
        let texts = await failure([String: [Role]].self, #"{"\#(key)":["x"]}"#)
        #expect(texts?.message.hasSuffix("the data is not valid at …[0]") == true, "\(texts as Any)")
        #expect(texts?.decoding?.codingPath == "\(key)[0]")
        let deep = await failure([[String: [String: Role]]].self, #"[{},{"a":{"\#(key)":"x"}}]"#)
        #expect(deep?.message.hasSuffix("at [1].….…") == true, "\(deep as Any)")
        #expect(deep?.decoding?.codingPath == "[1].a.\(key)")
        if let number = Int(key) {
            let numbers = await failure([Int: [Role]].self, #"{"\#(number)":["x"]}"#)
            #expect(numbers?.message.hasSuffix("at …[0]") == true, "\(numbers as Any)")
        }
        let own = await failure(Seventh.self, #"{"first":["x"]}"#)
        #expect(own?.message.hasSuffix("at first[0]") == true, "\(own as Any)")
    }

    @Test func `a failure names its exchange`() async throws {
        let client = NetworkClient(transport: StubTransport(always: .text("<html>")))
        let error = await expectFailure(.decodingFailed) { try await client.send(Find()).body?.userName }
        #expect(error?.exchange?.method == "GET")
        #expect(error?.phase == .decoding)
    }
}
