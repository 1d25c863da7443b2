// An API as an enum of endpoints with tasks, and a router that sends them.
//
//   swift run TutorialRouter http://127.0.0.1:8080
import Foundation
import FoundationNetworking
import NetworkLayer
import NetworkLayerTutorials

enum MovieApi: EndPointType {
    case newMovies(page: Int)
    case rate(id: Int, value: Double)

    var baseURL: URL {
        let server = CommandLine.arguments.dropFirst().first ?? "http://127.0.0.1:8080"
        guard let url = URL(string: server + "/3/movie/") else { fatalError("baseURL could not be configured.") }
        return url
    }

    var path: String {
        switch self {
        case .newMovies: "now_playing"
        case .rate(let id, _): "\(id)"
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
        case .newMovies(let page):
            .requestParameters(bodyParameters: nil, urlParameters: ["page": page, "api_key": "YOUR_KEY"])
        case .rate(_, let value):
            .requestParametersAndHeaders(
                bodyParameters: ["value": value],
                urlParameters: ["api_key": "YOUR_KEY"],
                additionHeaders: ["X-Session": "1"]
            )
        }
    }

    var headers: HTTPHeaders? { nil }
}

@main
struct TutorialRouter {
    static func main() {
        let router = Router<MovieApi>()
        router.request(.newMovies(page: 1)) { data, response, error in
            show(response, data, error)
            router.request(.rate(id: 7, value: 8.5)) { data, response, error in
                show(response, data, error)
                exit(0)
            }
        }
        dispatchMain()
    }

    private static func show(_ response: URLResponse?, _ data: Data?, _ error: (any Error)?) {
        guard let response = response as? HTTPURLResponse else {
            FileHandle.standardError.write(Data("TutorialRouter: \(error.map { "\($0)" } ?? "no response")\n".utf8))
            exit(1)
        }
        let path = response.url?.path ?? ""
        print("over \(DefaultTransport.shared.name): \(path) \(response.statusCode), \(data?.count ?? 0) bytes")
    }
}
