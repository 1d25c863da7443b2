// swift-format-ignore-file
// The code as printed in the tutorials, except for the imports and the name of the type.
import Foundation
import FoundationNetworking
import NetworkLayer
import NetworkLayerTutorials

public struct TutorialDispatcher: NetworkDispatcher {
    public static let instance = TutorialDispatcher()
    private init() {}

    public func dispatch(request: RequestData, onSuccess: @escaping (Data) -> Void, onError: @escaping (Error) -> Void)
    {
        guard let url = URL(string: request.path) else {
            onError(ConnError.invalidURL)
            return
        }

        var urlRequest = URLRequest(url: url)
        urlRequest.httpMethod = request.method.rawValue

        do {
            if let params = request.params {
                urlRequest.httpBody = try JSONSerialization.data(withJSONObject: params, options: [])
            }
        } catch let error {
            onError(error)
            return
        }

        URLSession.shared.dataTask(with: urlRequest) { (data, response, error) in
            if let error = error {
                onError(error)
                return
            }

            guard let _data = data else {
                onError(ConnError.noData)
                return
            }

            onSuccess(_data)
        }.resume()
    }
}
