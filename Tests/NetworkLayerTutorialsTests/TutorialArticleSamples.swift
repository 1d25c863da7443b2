import Foundation
import FoundationNetworking
import NetworkLayer
import NetworkLayerTutorials

/// The samples of 'Coming from the tutorials', verbatim, so that they compile. `DocumentationTests` compares the two.
enum TutorialArticleSamples {
    struct MovieFeedResult: Codable {
        let results: [String]
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

    static func build(base: URL, client: NetworkClient) throws {
        let urlRequest = try URLRequestBuilder(with: base, path: "notes")
            .set(method: .get)
            .set(parameters: .url(["page": 1]))
            .build()

        client.send(urlRequest) { data, response, error in
            print(data?.count ?? 0, response?.url?.path ?? "", error.map { "\($0)" } ?? "")
        }
    }
}
