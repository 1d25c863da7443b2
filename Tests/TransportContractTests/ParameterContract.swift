import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

@Suite(.patience(minutes: 1))
struct ParameterContract {
    private func target(
        _ transport: ContractTransport, _ path: String, _ params: [String: ParameterValue],
        method: HTTPRequest.Method = .get
    ) async throws -> ReceivedRequest {
        try await withServer(.ok("{}")) { server in
            let data = RequestData(path: server.url(path), method: method, parameters: params)
            _ = try await transport.transport.send(data, as: .data)
            return try #require(server.requests.first)
        }
    }

    @Test(arguments: ContractTransport.all, [HTTPRequest.Method.get, .head, .delete])
    func `parameters are the query`(transport: ContractTransport, method: HTTPRequest.Method) async throws {
        let params: [String: ParameterValue] = ["page": 1, "q": nil, "tags": ["a", "b"], "nested": ["x": ["y": true]]]
        let request = try await target(transport, "/p", params, method: method)
        #expect(request.target == "/p?nested%5Bx%5D%5By%5D=true&page=1&tags=a&tags=b")
        #expect(request.body.isEmpty)
    }

    @Test(arguments: ContractTransport.all)
    func `a query in the path is kept`(transport: ContractTransport) async throws {
        let request = try await target(transport, "/p?z=%20[1]|2&z=+#part", ["a": 1])
        #expect(request.target == "/p?z=%20%5B1%5D%7C2&z=+&a=1")
    }

    @Test(arguments: ContractTransport.all)
    func `any text comes back the same`(transport: ContractTransport) async throws {
        let text = "+ & = % ? # / \\ \" ' ; , : @ [ ] { } | ^ ` ~ <é日本\u{1F600}>\t\r\n\u{0}"
        let request = try await target(transport, "/p", ["q": .string(text)])
        let query = try #require(request.target.split(separator: "?").last)
        #expect(query.dropFirst(2).removingPercentEncoding == text)
    }

    @Test(arguments: ContractTransport.all)
    func `a path outside ASCII is percent-encoded once`(transport: ContractTransport) async throws {
        #expect(try await target(transport, "/né/%2F/a b", [:]).target == "/n%C3%A9/%2F/a%20b")
    }

    @Test(arguments: ContractTransport.all, [HTTPRequest.Method.post, .put, .patch])
    func `parameters are a JSON body`(transport: ContractTransport, method: HTTPRequest.Method) async throws {
        let params: [String: ParameterValue] = ["b": [1, 2.5, "é/"], "a": nil, "c": ["t": true]]
        let request = try await target(transport, "/p?z=1", params, method: method)
        #expect(request.target == "/p?z=1")
        #expect(request.values(of: "Content-Type") == ["application/json"])
        #expect(String(decoding: request.body, as: UTF8.self) == #"{"a":null,"b":[1,2.5,"é/"],"c":{"t":true}}"#)
    }
}
