public import Foundation
public import FoundationNetworking

extension NetworkClient {
    /// Sends a request and calls the closure once, with the response in Foundation's types, whatever its status.
    /// - Parameters:
    ///   - request: A `URLRequest`, or any other description of a request.
    ///   - completion: Receives the body and an `HTTPURLResponse`, or the error, on an unspecified thread: a
    ///     ``NetworkCore/NetworkError``, or `CancellationError` if the returned task is cancelled.
    /// - Returns: The task, to cancel the request.
    @discardableResult
    @preconcurrency
    public func send(
        _ request: some RequestConvertible, completion: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> Task<Void, Never> {
        let (data, client) = (request.data, with { $0.validation = .any })
        return Task {
            do {
                let response = try await client.send(data, as: .data)
                guard let head = response.httpURLResponse else {
                    throw NetworkError(.invalidResponse, "Foundation can't hold the response's head", phase: .decoding)
                }
                completion(response.body, head, nil)
            } catch {
                completion(nil, nil, error)
            }
        }
    }
}
