package import Foundation
public import FoundationNetworking

extension URLRequest: RequestConvertible {
    /// What the `URLRequest` says, for either transport: URL, method, header fields, body or body stream, and its
    /// timeout. The URL is whole, whatever base the client has.
    ///
    /// The timeout is the longest time in which nothing moves. 60 s, which is what every `URLRequest` begins with,
    /// leaves the client's own; an infinite one means none. A body stream is read once, while it is sent. Cache policy,
    /// cookie handling and the like are not the transports'.
    public var data: RequestData {
        var data = RequestData(url: url?.absoluteString ?? "", method: .get)
        if url == nil { data.refusal = NetworkError(.invalidURL, "the URLRequest has no URL", phase: .preparing) }
        do {
            data.method = try HTTPRequest.Method(checking: httpMethod ?? "GET")
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
        if let refused = httpBodyStream as? RefusedBody { data.refusal = refused.reason }
        return data
    }

    /// A request that stands for one which can't be made, where none can be thrown. Sending it fails and says why.
    ///
    /// Its URL holds nothing of what was refused, and no transport sends it. Without a URL, Foundation would end the
    /// process.
    package static func refused(_ reason: any Error) -> URLRequest {
        var request = URLRequest(url: URL(string: "unusable:") ?? URL(filePath: "/"))
        request.httpBodyStream = RefusedBody(reason)
        return request
    }
}

/// Why a `URLRequest` can't be sent. It travels as the body stream: copies keep that, and no text can imitate it.
private final class RefusedBody: InputStream {
    let reason: any Error

    init(_ reason: any Error) {
        self.reason = reason
        super.init(data: Data())
    }
}

extension RequestData {
    /// The request as a `URLRequest`: the same URL, method, header fields, body and idle timeout. User and password of
    /// the URL are its header field `Authorization`.
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
        if let credentials = request.urlAuthorization {
            urlRequest.setValue(credentials, forHTTPHeaderField: "Authorization")
        }
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
    package mutating func setIdleTimeout(_ seconds: TimeInterval) {
        let maximum = TransportOptions.maximumTimeout
        if seconds == 60 || seconds == 0 { return }
        idleTimeout = seconds.isNaN ? .zero : seconds >= maximum / .seconds(1) ? maximum : .seconds(max(-1, seconds))
    }
}
