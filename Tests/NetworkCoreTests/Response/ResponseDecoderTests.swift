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

@Suite(.timeLimit(.minutes(1)))
struct ResponseDecoderTests {
    private let request = RequestData(path: "http://127.0.0.1/")

    @Test func json_takesOtherStrategies() async throws {
        let client = NetworkClient(transport: StubDispatcher(always: .text(#"{"user_name":"Ada"}"#)))
        let decoding = client.decoding(by: .json { $0.keyDecodingStrategy = .convertFromSnakeCase })
        #expect(try await decoding.response(to: request, as: User.self).value == User(userName: "Ada"))
        #expect(try await Find().response(from: decoding) == User(userName: "Ada"), "by the pipeline's own rules")
        await expectFailure(.decodingFailed) { try await client.response(to: request, as: User.self).value.userName }
    }

    @Test func closure_bringsAnyDecoder() async throws {
        let list = try PropertyListEncoder().encode(User(userName: "Ada"))
        let stub = StubDispatcher(always: .bytes(list))
        let client = NetworkClient(transport: stub).decoding(
            by: .using { type, body in try PropertyListDecoder().decode(type, from: body) })
        #expect(try await client.response(to: request, as: User.self).value == User(userName: "Ada"))
    }

    @Test func closureThatMakesAnotherType_isAnError() async throws {
        let client = NetworkClient(transport: StubDispatcher(always: .text("1"))).decoding(by: .using { _, _ in 1 })
        let error = await expectFailure(.decodingFailed) {
            try await client.response(to: request, as: User.self).value.userName
        }
        #expect(error?.response?.status == .ok)
    }

    @Test func decoderOfOnesOwn_seesTheHead() async throws {
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
        let stub = StubDispatcher(always: .text("anything", fields: [.contentType: "text/x"]))
        let client = NetworkClient(transport: stub).decoding(by: ByType())
        #expect(try await client.response(to: request, as: User.self).value == User(userName: "text/x"))
    }

    @Test(arguments: [(204, ""), (200, ""), (200, "ignored"), (202, "{}")])
    func empty_needsNoBodyAndDropsOne(status: Int, body: String) async throws {
        let client = NetworkClient(transport: StubDispatcher(always: .text(body, status: status)))
        #expect(try await client.response(to: Delete()).value == Empty())
        #expect(try await Delete().response(from: client) == Empty())
    }

    @Test(arguments: [204, 205, 200]) func optional_isNilWithoutABody(status: Int) async throws {
        let client = NetworkClient(transport: StubDispatcher(always: .text("", status: status)))
        #expect(try await client.response(to: Find()).value == nil)
        #expect(try await Find().response(from: client) == nil)
        await expectFailure(.noData) { try await client.response(to: request, as: User.self).value.userName }
    }

    @Test func optional_isDecodedWithABody() async throws {
        let client = NetworkClient(transport: StubDispatcher(always: .text(#"{"userName":"Ada"}"#)))
        #expect(try await client.response(to: Find()).value == User(userName: "Ada"))
        #expect(
            try await NetworkClient(transport: StubDispatcher(always: .text("null"))).response(to: Find()).value == nil)
        await expectFailure(.decodingFailed) {
            try await NetworkClient(transport: StubDispatcher(always: .text("[]"))).response(to: Find()).value?.userName
        }
    }

    private enum Role: String, Codable, Sendable { case admin }

    /// Its description went into logs with the value, the decoder's own words and a dictionary's keys in it.
    @Test func description_holdsNothingOfTheBody() async throws {
        struct Own: Error { let token = "secret" }
        let role = NetworkClient(transport: StubDispatcher(always: .text(#"{"secret-key":["secret-value"]}"#)))
        let error = await expectFailure(.decodingFailed) {
            try await role.response(to: request, as: [String: [Role]].self).value.count
        }
        #expect(error?.description.contains("secret") == false)
        #expect(error?.description.contains("the data is not valid at …[0]") == true)
        #expect(error?.decoding?.codingPath == "secret-key[0]")
        #expect(error?.decoding?.reason.contains("secret-value") == true)
        #expect(error?.unredactedDescription.contains("the decoder says: the data is not valid: ") == true)
        #expect(error?.unredactedDescription.contains("secret-key[0]") == true)

        let own = NetworkClient(transport: StubDispatcher(always: .text("1")))
            .decoding(by: .using { _, _ -> Int in throw Own() })
        let other = await expectFailure(.decodingFailed) { try await own.response(to: request, as: Int.self).value }
        #expect(other?.description.contains("secret") == false)
        #expect(other?.description.contains("the decoder failed with Own") == true)
        #expect(other?.decoding?.reason.contains("secret") == true)

        let user = NetworkClient(transport: StubDispatcher(always: .text(#"{"secret":{}}"#)))
        let missing = await expectFailure(.decodingFailed) {
            try await user.response(to: request, as: [String: User].self).value.count
        }
        #expect(missing?.description.contains("the key 'userName' is missing at ….userName") == true)
    }

    @Test func failure_namesItsExchange() async throws {
        let client = NetworkClient(transport: StubDispatcher(always: .text("<html>")))
        let error = await expectFailure(.decodingFailed) { try await client.response(to: Find()).value?.userName }
        #expect(error?.exchange?.method == "GET")
        #expect(error?.phase == .decoding)
    }
}
