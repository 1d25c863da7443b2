// swift-format-ignore-file
// The code of 'Protocol based generic networking' as printed in the article, except for the import, and for the base
// and the key, which belong to a server of these tests.
import Foundation
import FoundationNetworking
import NetworkLayer
import NetworkLayerTutorials

struct Movie: Decodable {
    
    let title: String?
    let poster_path: String?
    let overview: String?
    let releaseDate: String?
    let backdrop_path: String?
    let release_date: String?
}

struct MovieFeedResult: Decodable {
    let results: [Movie]?
}

enum MovieFeedFromAPI {
    case nowPlaying
    case topRated
}
extension MovieFeedFromAPI: Endpoint {
    
    var base: String {
        return TutorialAddress.movies
    }
    
    var path: String {
        switch self {
        case .nowPlaying: return "/3/movie/now_playing"
        case .topRated: return "/3/movie/top_rated"
        }
    }

    var apiKey: String {
        return "api_key=YOUR_KEY"
    }
}

class MovieClient: APIClient {
    let session: URLSession
    
    init(configuration: URLSessionConfiguration) {
        self.session = URLSession(configuration: configuration)
    }
    
    convenience init() {
        self.init(configuration: .default)
    }

    // Not in the article: the transport that sends the requests.
    var dispatcher: any NetworkDispatcher = NetworkClient.shared
    
    func getFeed(from movieFeedType: MovieFeedFromAPI, completion: @escaping (Result<MovieFeedResult?, APIError>) -> Void) {
        fetch(with: movieFeedType.request , decode: { json -> MovieFeedResult? in
            guard let movieFeedResult = json as? MovieFeedResult else { return  nil }
            return movieFeedResult
        }, completion: completion)
    }
}
