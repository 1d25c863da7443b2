import Dispatch
import NetworkLayer

/// The samples of the README, verbatim, so that they compile. `DocumentationTests` compares the two.
enum ReadmeSamples {
    struct User: Codable {
        let id: Int
        let name: String
    }

    struct GetUsers: RequestType {
        typealias ResponseType = [User]
        var data: RequestData { RequestData(path: "users", parameters: ["page": 1]) }
    }

    static func oneLine() async throws {
        let text = try await RequestData(url: "https://example.org/").send(as: .text).body
        print(text)
    }

    static func first() async throws {
        let client = NetworkClient(baseURL: "http://127.0.0.1:8080")

        let users = try await client.send(GetUsers()).body
        let request = RequestData(path: "users", method: .post, parameters: ["name": "Ada", "tags": ["new"]])
        let added = try await client.send(request, as: User.self)
        print(users.count, added.status.code, added.body.name)
    }

    static func closures(client: NetworkClient) {
        GetUsers().execute(
            dispatcher: client,
            queue: .global(),
            onSuccess: { users in print(users.count) },
            onError: { error in print(error) }
        )
    }
}
