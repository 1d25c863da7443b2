import Foundation
import FoundationNetworking
import NetworkLayer
import NetworkLayerTutorials

/// The samples of 'Coming from the tutorials', verbatim, so that they compile. `DocumentationTests` compares the two.
enum TutorialArticleSamples {
    struct MovieFeedResult: Codable {
        let results: [String]
    }

    struct Note: Codable {
        let text: String
    }

    enum MovieFeed: Endpoint {
        case nowPlaying, topRated

        var base: String { "http://127.0.0.1:8080" }
        var path: String {
            switch self {
            case .nowPlaying: "/3/movie/now_playing"
            case .topRated: "/3/movie/top_rated"
            }
        }
        var apiKey: String { "api_key=YOUR_KEY" }
    }

    static func send() async throws -> [MovieFeedResult] {
        let feed = try await MovieFeed.topRated.send(as: MovieFeedResult.self).body
        let client = NetworkClient(transport: URLSessionNetworkDispatcher.instance)
        let again = try await client.send(MovieFeed.topRated, as: MovieFeedResult.self)
        return [feed, again.body]
    }

    final class MovieClient: APIClient {
        let session = URLSession(configuration: .default)

        func getFeed(
            from feed: MovieFeed,
            completion: @escaping @Sendable (Result<MovieFeedResult?, APIError>) -> Void
        ) {
            fetch(with: feed.request, decode: { $0 as? MovieFeedResult }, completion: completion)
        }
    }

    struct AddNote: APIRequest {
        typealias Resource = Note
        let text: String
        var baseURL: URL { URL(string: "http://127.0.0.1:8080")! }
        var path: String { "notes" }
        var method: HTTPMethod { .post }
        var parameters: RequestParams { .body(["text": text]) }
        var headers: [String: Any]? { ["X-Source": "app"] }
    }

    static func add() async throws -> Note {
        let note = try await AddNote(text: "buy milk").send().body
        return note
    }

    static func build(base: URL, client: NetworkClient) throws {
        let urlRequest = try URLRequestBuilder(with: base, path: "notes")
            .set(method: .get)
            .set(parameters: .url(["page": 1]))
            .build()

        client.send(urlRequest) { data, response, error in
            print(data?.count ?? 0, response?.url?.path ?? "", error.map { "\($0)" } ?? "")
        }
    }

    enum MovieAPI: EndPointType {
        case newMovies(page: Int)
        case rate(id: Int, value: Double)

        var baseURL: URL { URL(string: "http://127.0.0.1:8080/3/movie/")! }
        var path: String {
            switch self {
            case .newMovies: "now_playing"
            case .rate(let id, _): "\(id)/rating"
            }
        }
        var httpMethod: HTTPMethod {
            switch self {
            case .newMovies: .get
            case .rate: .post
            }
        }
        var task: HTTPTask {
            switch self {
            case .newMovies(let page): .requestParameters(bodyParameters: nil, urlParameters: ["page": page])
            case .rate(_, let value): .requestParameters(bodyParameters: ["value": value], urlParameters: nil)
            }
        }
        var headers: HTTPHeaders? { nil }
    }

    static func route() {
        let router = Router<MovieAPI>()
        router.request(.newMovies(page: 1)) { data, response, error in
            if let response = response as? HTTPURLResponse { print(response.statusCode, data?.count ?? 0) }
        }
    }
}
