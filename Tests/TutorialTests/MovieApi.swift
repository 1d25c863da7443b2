// swift-format-ignore-file
// An API as a reader of 'Network layer: protocol-oriented approach' would write it, except for the base, which is a
// server of these tests.
import Foundation
import FoundationNetworking
import NetworkLayer
import NetworkLayerTutorials

enum NetworkEnvironment {
    case qa
    case production
    case staging
}

public enum MovieApi {
    case recommended(id:Int)
    case popular(page:Int)
    case newMovies(page:Int)
    case video(id:Int)
    case rate(id:Int, value:Double)
}

extension MovieApi: EndPointType {
    
    public var baseURL: URL {
        guard let url = URL(string: TutorialAddress.movies + "/3/movie/") else { fatalError("baseURL could not be configured.")}
        return url
    }
    
    public var path: String {
        switch self {
        case .recommended(let id):
            return "\(id)/recommendations"
        case .popular:
            return "popular"
        case .newMovies:
            return "now_playing"
        case .video(let id):
            return "\(id)/videos"
        case .rate(let id, _):
            return "\(id)/rating"
        }
    }
    
    public var httpMethod: HTTPMethod {
        switch self {
        case .rate: return .post
        default: return .get
        }
    }
    
    public var task: HTTPTask {
        switch self {
        case .newMovies(let page):
            return .requestParameters(bodyParameters: nil,
                                      urlParameters: ["page":page,
                                                      "api_key":"YOUR_KEY"])
        case .rate(_, let value):
            return .requestParametersAndHeaders(bodyParameters: ["value":value],
                                                urlParameters: ["api_key":"YOUR_KEY"],
                                                additionHeaders: ["X-Session":"1"])
        default:
            return .request
        }
    }
    
    public var headers: HTTPHeaders? {
        return nil
    }
}

struct NetworkManager {
    static let environment : NetworkEnvironment = .production
    let router: Router<MovieApi>

    func getNewMovies(page: Int, completion: @escaping (_ movie: [Movie]?,_ error: String?)->()){
        router.request(.newMovies(page: page)) { data, response, error in
            
            if error != nil {
                completion(nil, "Please check your network connection.")
            }
            
            if let response = response as? HTTPURLResponse {
                switch response.statusCode {
                case 200...299:
                    guard let responseData = data else {
                        completion(nil, "Response returned with no data to decode.")
                        return
                    }
                    do {
                        let apiResponse = try JSONDecoder().decode(MovieFeedResult.self, from: responseData)
                        completion(apiResponse.results,nil)
                    }catch {
                        completion(nil, "We could not decode the response.")
                    }
                default:
                    completion(nil, "Network request failed.")
                }
            }
        }
    }
}

// An encoder that a reader might add.
public struct PlainParameterEncoder: ParameterEncoder {
    public static func encode(urlRequest: inout URLRequest, with parameters: Parameters) throws {
        guard urlRequest.url != nil else { throw NetworkError.missingURL }
        guard !parameters.isEmpty else { throw NetworkError.parametersNil }
        guard let text = parameters["text"] as? String else { throw NetworkError.encodingFailed }
        urlRequest.httpBody = Data(text.utf8)
    }
}
