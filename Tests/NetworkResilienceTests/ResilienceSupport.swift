import HTTPTypes
import NetworkCore
import NetworkTesting

@testable import NetworkResilience

extension NetworkClient {
    /// A client over a stub with some steps.
    init(_ stub: StubTransport, _ steps: any Interceptor...) {
        self.init(transport: stub, baseURL: "http://h")
        interceptors = steps
    }

    /// Sends a request and returns its status, or the code of its error.
    func outcome(
        _ url: String = "http://h/a", _ method: HTTPRequest.Method = .get, options: TransportOptions? = nil
    ) async -> String {
        do {
            var request = TransportRequest(method: method, url: try RequestURL(url))
            if let options { request.options = options }
            return "\(try await send(request, as: .stream).status.code)"
        } catch {
            return NetworkError.code(of: error)?.rawValue ?? "\(error)"
        }
    }
}
