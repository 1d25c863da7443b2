#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension URLRequest: RequestConvertible {
    /// What the `URLRequest` says, for either transport: URL, method, header fields, body or body stream, and its timeout.
    ///
    /// The timeout is the longest time in which nothing moves. 60 s, which is what every `URLRequest` begins with, leaves
    /// the client's own; an infinite one means none. A body stream is read once, while it is sent. Cache policy, cookie
    /// handling and the like are not the transports'.
    public var data: RequestData {
        var data = RequestData(path: url.map(Self.text) ?? "", method: .get)
        if url == nil { data.refusal = NetworkError.missingURL }
        do {
            data.method = try HTTPMethod(checking: httpMethod ?? "GET")
        } catch {
            data.refusal = error
        }
        data.headers = allHTTPHeaderFields
        if let httpBody {
            data.content = .bytes(httpBody, type: nil)
        } else if let httpBodyStream {
            data.content = .stream(InputStreamChunks(httpBodyStream), type: nil)
        }
        data.setIdleTimeout(timeoutInterval)
        return data
    }

    /// The URL's text. That of ``unusable(_:)`` is the one that it was made of.
    private static func text(of url: URL) -> String {
        guard url.scheme == unusableScheme else { return url.absoluteString }
        return String(url.absoluteString.dropFirst(unusableScheme.count + 1)).removingPercentEncoding ?? ""
    }

    private static let unusableScheme = "unusable"

    /// A request that stands for one which can't be made, where none can be thrown. Sending it fails and says why.
    static func unusable(_ text: String) -> URLRequest {
        let escaped = text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        var request = URLRequest(url: URL(fileURLWithPath: "/"))
        request.url = URL(string: "\(unusableScheme):\(escaped)")
        return request
    }
}

extension RequestData {
    /// The request as a `URLRequest`: the same URL, method, header fields, body and idle timeout.
    ///
    /// The header fields that a transport adds (`Accept`, `User-Agent`, …) are not among them.
    /// - Throws: ``NetworkCore/NetworkError`` that names what is wrong with the request;
    ///   ``NetworkCore/NetworkError/Code/unsupported`` for a body that is produced while it is sent.
    public func urlRequest() throws -> URLRequest {
        let request = try transportRequest()
        guard let url = URL(string: request.url.absoluteString) else {
            throw NetworkError(.invalidURL, "Foundation can't read the URL \(request.url)", phase: .preparing)
        }
        var urlRequest = URLRequest(url: url)
        urlRequest.httpMethod = request.method.rawValue
        for field in request.headerFields { urlRequest.addValue(field.value, forHTTPHeaderField: field.name.rawName) }
        if let body = request.body {
            guard let bytes = body.knownBytes else {
                throw NetworkError(
                    .unsupported,
                    "a body that is produced while it is sent can't be part of a URLRequest",
                    phase: .preparing
                )
            }
            urlRequest.httpBody = bytes
        }
        if let idleTimeout { urlRequest.timeoutInterval = idleTimeout / .seconds(1) }
        return urlRequest
    }

    /// Takes Foundation's timeout over: 60 s is its default and means 'not set', infinity means none.
    mutating func setIdleTimeout(_ seconds: TimeInterval) {
        let maximum = TransportOptions.maximumTimeout
        if seconds == 60 || seconds == 0 { return }
        idleTimeout = seconds.isNaN ? .zero : seconds >= maximum / .seconds(1) ? maximum : .seconds(max(-1, seconds))
    }
}
