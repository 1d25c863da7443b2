import Foundation
import FoundationNetworking
import NetworkLayer

/// The samples of the articles on coming from another library, verbatim, so that they compile. `DocumentationTests`
/// compares the two.
enum NewcomerSamples {
    private typealias User = ArticleSamples.User

    static func data(for urlRequest: URLRequest, client: NetworkClient) async throws {
        // let (data, response) = try await URLSession.shared.data(for: urlRequest)
        let response = try await client.send(urlRequest, as: .data)
        print(response.status.code, response.headerFields[.contentType] ?? "", response.body.count)
    }

    static func list(client: NetworkClient) async throws -> Int {
        // AF.request("https://api.example.com/users", parameters: ["page": 2])
        //     .validate().serializingDecodable([User].self).value
        let request = RequestData(path: "https://api.example.com/users", parameters: ["page": 2])
        let users = try await client.send(request, as: [User].self).body
        return users.count
    }

    static func add(client: NetworkClient) async throws -> Int {
        let user = User(id: 1, name: "Ada")
        // AF.request(
        //     "https://api.example.com/users", method: .post, parameters: user, encoder: JSONParameterEncoder.default)
        let adding = RequestData(path: "https://api.example.com/users", method: .post, content: .json(user))
        let added = try await client.send(adding, as: User.self).body
        return added.id
    }

    static func exchange() async throws -> Int {
        // var request = HTTPClientRequest(url: "https://example.org/")
        // let response = try await client.execute(request, timeout: .seconds(30))
        var request = TransportRequest(url: try RequestURL("https://example.org/"))
        request.options.totalTimeout = .seconds(30)
        let response = try await CurlNetworkDispatcher.shared.send(request)
        let body = try await response.body.collect(upTo: 1_000_000)
        return body.count
    }
}
