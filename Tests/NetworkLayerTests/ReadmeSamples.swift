import Dispatch
import NetworkLayer

/// The README's samples, word for word, so that they compile. `DocumentationTests` compares the two.
enum ReadmeSamples {
    struct User: Codable {
        let id: Int
        let name: String
    }

    struct GetUsers: RequestType {
        typealias ResponseType = [User]
        var data: RequestData { RequestData(path: "http://127.0.0.1:3000/users", params: ["page": 1, "q": nil]) }
    }

    struct AddUser: RequestType {
        typealias ResponseType = User
        let name: String
        var data: RequestData {
            RequestData(
                path: "http://127.0.0.1:3000/users",
                method: .post,
                params: ["name": .string(name), "tags": ["new"]],
                headers: ["X-Request-Source": "readme"]
            )
        }
    }

    static func first() async throws {
        let users = try await GetUsers().send().body
        let added = try await AddUser(name: "Ada").send()
        print(users.count, added.status.code, added.body.id)
    }

    static func closures() {
        GetUsers().execute(
            queue: .global(),
            onSuccess: { users in print(users.count) },
            onError: { error in print(error) }
        )
    }

    static func picking() async throws -> [[User]] {
        let overCurl = try await GetUsers().send(over: CurlNetworkDispatcher.instance).body
        let overURLSession = try await GetUsers().send(over: URLSessionNetworkDispatcher.instance).body
        return [overCurl, overURLSession]
    }
}
