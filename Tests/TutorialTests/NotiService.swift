// swift-format-ignore-file
// The code of 'A simple URLRequest builder' as printed in the article, except for the import and for the address, which
// is a server of these tests.
import Foundation
import FoundationNetworking
import NetworkLayer
import NetworkLayerTutorials

public class NotiService {
    static func getNoti(completion: @escaping RequestCallback) {
        let urlRequestBuilder:URLRequestBuilder = URLRequestBuilder.init(with: URL(string:TutorialAddress.notes)!, path: "bins/ki5o0")
        urlRequestBuilder.set(method: .get)
        let urlRequest = try! urlRequestBuilder.build()

        let session = URLSession(configuration: URLSessionConfiguration.default)
        
        let task = session.dataTask(with: urlRequest, completionHandler: { (data, response, error) in
            completion(data, response, error)
        })
        task.resume()
    }

    // Not in the article: the same request over a client of this library.
    static func getNoti(over client: NetworkClient, completion: @escaping RequestCallback) {
        let urlRequestBuilder:URLRequestBuilder = URLRequestBuilder.init(with: URL(string:TutorialAddress.notes)!, path: "bins/ki5o0")
        urlRequestBuilder.set(method: .get)
        let urlRequest = try! urlRequestBuilder.build()
        client.send(urlRequest, completion: completion)
    }
}

class NoteAPIClient {

  // Rest of code
  
  func buildURLRequest<T: APIRequest>(for request: T) throws -> URLRequest {
    return try URLRequestBuilder(with: request.baseURL, path: request.path)
        .set(method: request.method)
        .set(headers: request.headers)
        .set(parameters: request.parameters)
        .build()
  }
}

// The article declares the protocol and leaves the conformance to its readers.
struct AddNote: APIRequest {
    typealias Resource = Echo
    let text: String
    var baseURL: URL { return URL(string: TutorialAddress.notes)! }
    var path: String { return "echo" }
    var method: HTTPMethod { return .post }
    var parameters: RequestParams { return .body(["text": text, "tags": ["a", "b"], "urgent": true]) }
    var headers: [String: Any]? { return ["X-Source": "tutorial"] }
}

struct FindNotes: APIRequest {
    typealias Resource = Echo
    var baseURL: URL { return URL(string: TutorialAddress.notes)! }
    var path: String { return "echo" }
    var method: HTTPMethod { return .get }
    var parameters: RequestParams { return .url(["q": "a+b & c", "page": 2]) }
    var headers: [String: Any]? { return nil }
}
