package import Foundation
public import FoundationNetworking

extension URLRequest: RequestConvertible {
    /// The content of the `URLRequest`, for either transport: its URL, method, header fields, body or body stream, and
    /// timeout. The URL is a whole URL, whatever base the client has.
    ///
    /// The timeout is the longest time without any transfer of bytes. 60 s, the default of every `URLRequest`, and 0
    /// leave the client's own timeout in place; an infinite timeout means none. A body stream is read once, while it is
    /// sent, on a thread of its own, which a silent stream blocks beyond the end of the call; at most 256 streams are
    /// read at once, and others fail with ``NetworkCore/NetworkError/Code/overloaded``. Cache policy, cookie handling
    /// and similar properties are ignored.
    public var data: RequestData {
        var data = RequestData(url: url?.absoluteString ?? "", method: .get)
        if url == nil { data.refusal = NetworkError(.invalidURL, "the URLRequest has no URL", phase: .preparing) }
        do {
            data.method = try HTTPRequest.Method(checking: httpMethod ?? "GET")
        } catch {
            data.refusal = error
        }
        data.headerFields = allHTTPHeaderFields ?? [:]
        if let httpBody {
            data.content = .bytes(httpBody, contentType: nil)
        } else if let httpBodyStream {
            data.content = .stream(InputStreamChunks(httpBodyStream), contentType: nil)
        }
        data.setIdleTimeout(timeoutInterval)
        if let refused = httpBodyStream as? RefusedBody { data.refusal = refused.reason }
        return data
    }

    /// Returns a placeholder for a request that can't be created, where no error can be thrown. Sending it fails with
    /// the reason.
    ///
    /// Its URL holds nothing of the refused one, and no transport sends it. A `URLRequest` without a URL would trap in
    /// Foundation.
    package static func refused(_ reason: any Error) -> URLRequest {
        var request = URLRequest(url: URL(string: "unusable:") ?? URL(filePath: "/"))
        request.httpBodyStream = RefusedBody(reason)
        return request
    }
}

/// The reason why a `URLRequest` can't be sent. It is stored as the body stream: copies keep that, and no text can
/// imitate it.
private final class RefusedBody: InputStream {
    let reason: any Error

    init(_ reason: any Error) {
        self.reason = reason
        super.init(data: Data())
    }
}

extension RequestData {
    /// Returns the request as a `URLRequest`: the same URL, method, header fields, body and idle timeout. The user and
    /// password of the URL become its header field `Authorization`.
    ///
    /// The header fields that a transport adds (`Accept`, `User-Agent`, …) are not included.
    /// - Throws: ``NetworkCore/NetworkError``, which names the problem with the request;
    ///   ``NetworkCore/NetworkError/Code/unsupported`` for a body that is produced while it is sent.
    public func urlRequest() throws -> URLRequest {
        let request = try transportRequest()
        guard let url = URL(string: request.url.absoluteString) else {
            throw NetworkError(.invalidURL, "Foundation can't read the URL \(request.url)", phase: .preparing)
        }
        var urlRequest = URLRequest(url: url)
        urlRequest.httpMethod = request.method.rawValue
        guard urlRequest.httpMethod == request.method.rawValue else {
            throw NetworkError(
                .unsupported, "a URLRequest writes the method '\(request.method.rawValue)' in capitals",
                phase: .preparing)
        }
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

    /// Sets the idle timeout from Foundation's. 60 s is its default and means 'not set', as does 0; infinity means
    /// none.
    package mutating func setIdleTimeout(_ seconds: TimeInterval) {
        let maximum = TransportOptions.maximumTimeout
        if seconds == 60 || seconds == 0 { return }
        idleTimeout = seconds.isNaN ? .zero : seconds >= maximum / .seconds(1) ? maximum : .seconds(max(-1, seconds))
    }
}
