#if Tracing || Metrics
import HTTPTypes
import NetworkCore

/// How an exchange or a call ended.
enum Outcome: Sendable {
    /// The body was read to its end, or released before.
    case ended(TransportResponse)
    /// The body failed.
    case cut(TransportResponse, any Error)
    /// There was no response.
    case failed(any Error)

    var response: TransportResponse? {
        switch self {
        case .ended(let response), .cut(let response, _): response
        case .failed: nil
        }
    }

    var error: (any Error)? {
        switch self {
        case .ended: nil
        case .cut(_, let error), .failed(let error): error
        }
    }

    /// The status of the response, or of the one that an error refuses.
    var status: HTTPResponse.Status? { response?.status ?? (error as? NetworkError)?.response?.status }

    /// The code of the error, a status of 400 or more, or `nil` for a success.
    var errorType: String? {
        if let error { return NetworkError.code(of: error)?.rawValue ?? "\(type(of: error))" }
        return status.flatMap { $0.code >= 400 ? "\($0.code)" : nil }
    }
}

extension NetworkClient.Next {
    /// Passes a request on, and reports once how that ended: without a response, or with the response's body.
    func watched(
        _ request: TransportRequest, in call: NetworkClient.Call,
        reporting report: @escaping @Sendable (Outcome) -> Void
    ) async throws -> TransportResponse {
        let response: TransportResponse
        do {
            response = try await self(request)
        } catch {
            report(.failed(call.reported(error)))
            throw error
        }
        return response.witnessed { event in
            switch event {
            case .bytes: return
            case .failure(let error): report(.cut(response, call.reported(error)))
            case .end, .release: report(.ended(response))
            }
        }
    }
}

extension HTTPRequest.Method {
    /// The method, or `_OTHER` for one that no standard knows: a name must not grow with what callers make up.
    var knownName: String { Self.known.contains(self) ? rawValue : "_OTHER" }

    private static let known: Set<HTTPRequest.Method> = [
        .get, .head, .post, .put, .delete, .connect, .options, .trace, .patch,
    ]
}
#endif
