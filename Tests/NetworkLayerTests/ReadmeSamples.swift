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
        let users = try await GetUsers().response()
        let added = try await AddUser(name: "Ada").detailedResponse()
        print(users.count, added.status.code, added.value.id)
    }

    static func closures() {
        GetUsers().execute(
            queue: .global(),
            onSuccess: { users in print(users.count) },
            onError: { error in print(error) }
        )
    }

    static func picking() async throws -> [[User]] {
        let overCurl = try await GetUsers().response(from: CurlNetworkDispatcher.instance)
        let overURLSession = try await GetUsers().response(from: URLSessionNetworkDispatcher.instance)
        return [overCurl, overURLSession]
    }
}
