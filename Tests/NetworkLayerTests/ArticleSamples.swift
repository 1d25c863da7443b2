import Foundation
import NetworkLayer

/// The samples of the articles, verbatim, so that they compile. `DocumentationTests` compares the two.
enum ArticleSamples {
    struct User: Codable {
        let id: Int
        let name: String
    }

    struct GetUsers: RequestType {
        typealias ResponseType = [User]
        let page: Int
        var data: RequestData {
            RequestData(path: "http://127.0.0.1:8080/users", parameters: ["page": .int(page), "q": nil, "tags": ["a"]])
        }
    }

    struct FindUsers: RequestType {
        typealias ResponseType = [User]
        let search: String?
        let tags: [String]
        var data: RequestData {
            RequestData(
                path: "http://127.0.0.1:8080/users",
                parameters: ["q": search.map { .string($0) } ?? .null, "tags": .array(tags.map { .string($0) })])
        }
    }

    static func send() async throws -> [User] {
        let users = try await GetUsers(page: 1).send().body
        return users
    }

    static func details() async throws {
        let response = try await GetUsers(page: 1).send()
        print(response.status.code, response.headerFields[.eTag] ?? "no tag", response.body.count)
    }

    struct NewUser: Encodable, Sendable {
        let name: String
        let tags: [String]
    }

    struct AddUser: RequestType {
        typealias ResponseType = User
        let user: NewUser
        var data: RequestData {
            RequestData(path: "http://127.0.0.1:8080/users", method: .post, content: .json(user))
        }
    }

    static func snakeCase() {
        var client = NetworkClient()
        client.encoder = .json { $0.keyEncodingStrategy = .convertToSnakeCase }
        client.decoder = .json { $0.keyDecodingStrategy = .convertFromSnakeCase }
    }

    static func byCode() async throws {
        do {
            _ = try await GetUsers(page: 1).send()
        } catch let error as NetworkError {
            switch error.code {
            case .unacceptableStatus: print("the server said", error.response?.status.code ?? 0)
            case .connectTimeout, .firstByteTimeout, .idleTimeout, .totalTimeout: print("too slow")
            case let code where code.isTLS: print("not a peer to trust:", code.rawValue)
            default: print(error)
            }
        }
    }

    static func bothTransports() async throws -> [[User]] {
        let overCurl = try await GetUsers(page: 1).send(over: CurlNetworkDispatcher.shared).body
        let overURLSession = try await GetUsers(page: 1).send(over: URLSessionNetworkDispatcher.shared).body
        return [overCurl, overURLSession]
    }

    static func chosen() throws -> any HTTPTransport {
        let transport = try DefaultTransport.shared.selected
        return transport
    }

    static func elsewhere(_ client: NetworkClient) -> NetworkClient {
        let checked = client.with { $0.transport = CurlNetworkDispatcher.shared }
        return checked
    }
}

/// The sample of the landing page.
enum LandingPageSamples {
    typealias User = ArticleSamples.User

    struct GetUsers: RequestType {
        typealias ResponseType = [User]
        var data: RequestData { RequestData(path: "http://127.0.0.1:8080/users") }
    }

    static func send() async throws -> [User] {
        let users = try await GetUsers().send().body
        return users
    }
}
