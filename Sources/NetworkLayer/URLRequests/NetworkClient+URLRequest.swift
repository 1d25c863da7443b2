public import Foundation
public import FoundationNetworking

/// What closures around `URLRequest` are called with: body and response, or an error. Called once.
public typealias RequestCallback = @Sendable (Data?, URLResponse?, (any Error)?) -> Void

extension NetworkClient {
    /// The answer to a request, whatever its status, in Foundation's types.
    ///
    /// For whoever has a `URLRequest` already; either transport carries it. Over a transport that can't stream request
    /// bodies, a body stream is read into memory first, up to ``NetworkCore/TransportOptions/maximumBodyBytes``.
    /// - Parameter request: A `URLRequest`, or any other description of a request.
    /// - Throws: ``NetworkCore/NetworkError``. A status such as 404 is not an error.
    public func answer(to request: some RequestConvertible) async throws -> (Data, HTTPURLResponse) {
        let data = request.data
        let url = try data.targetURL
        let response = try await collectingBodies.stream(data)
        let body = try await response.value.collect(upTo: options.maximumBodyBytes)
        guard let head = response.urlResponse(for: url) else {
            throw NetworkError(.invalidResponse, "Foundation can't hold the response's head", phase: .decoding)
        }
        return (body, head)
    }

    /// The same with a closure.
    /// - Returns: The task, to cancel it.
    @discardableResult
    @preconcurrency
    public func answer(
        to request: some RequestConvertible,
        completion: @escaping RequestCallback
    ) -> Task<Void, Never> {
        let data = request.data
        return Task {
            do {
                let (body, head) = try await answer(to: data)
                completion(body, head, nil)
            } catch {
                completion(nil, nil, error)
            }
        }
    }

    /// The same client; with a transport that can't stream request bodies it reads them into memory first.
    var collectingBodies: NetworkClient {
        guard !transport.capabilities.supports(.streamedRequestBodies) else { return self }
        var client = self
        client.exchangeInterceptors.append(.collectedBodies(upTo: options.maximumBodyBytes))
        return client
    }
}
