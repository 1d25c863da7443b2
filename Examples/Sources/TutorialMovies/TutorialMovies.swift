// Endpoints as an enum, and a client that fetches and decodes.
//
//   swift run TutorialMovies http://127.0.0.1:8080
import Foundation
import FoundationNetworking
import NetworkLayer
import NetworkLayerTutorials

struct Movie: Decodable, Sendable {
    let title: String?
    let poster_path: String?
    let overview: String?
}

struct MovieFeedResult: Decodable, Sendable {
    let results: [Movie]?
}

enum MovieFeed: Endpoint {
    case nowPlaying
    case topRated

    var base: String { CommandLine.arguments.dropFirst().first ?? "http://127.0.0.1:8080" }

    var path: String {
        switch self {
        case .nowPlaying: "/3/movie/now_playing"
        case .topRated: "/3/movie/top_rated"
        }
    }

    var apiKey: String { "api_key=YOUR_KEY" }
}

final class MovieClient: APIClient {
    let session: URLSession

    init(configuration: URLSessionConfiguration = .default) {
        session = URLSession(configuration: configuration)
    }

    func getFeed(
        from feed: MovieFeed,
        completion: @escaping @Sendable (Result<MovieFeedResult?, APIError>) -> Void
    ) {
        fetch(
            with: feed.request,
            decode: { json -> MovieFeedResult? in
                guard let movieFeedResult = json as? MovieFeedResult else { return nil }
                return movieFeedResult
            },
            completion: completion
        )
    }
}

@main
struct TutorialMovies {
    static func main() {
        let client = MovieClient()
        client.getFeed(from: .nowPlaying) { result in
            switch result {
            case .success(let movieFeedResult):
                let titles = (movieFeedResult?.results ?? []).compactMap(\.title)
                print("over \(DefaultTransport.shared.name): \(titles.joined(separator: ", "))")
                exit(0)
            case .failure(let error):
                FileHandle.standardError.write(Data("the error \(error): \(error.localizedDescription)\n".utf8))
                exit(1)
            }
        }
        dispatchMain()
    }
}
