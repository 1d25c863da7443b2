public import Foundation
public import FoundationNetworking

/// What closures around `URLRequest` are called with: body and response, or an error. Called once.
public typealias RequestCallback = @Sendable (Data?, URLResponse?, (any Error)?) -> Void

extension NetworkClient {
    /// Sends a request and calls back once, with the response in Foundation's types, whatever its status.
    /// - Parameters:
    ///   - request: A `URLRequest`, or any other description of a request.
    ///   - completion: Gets body and `HTTPURLResponse`, or a ``NetworkCore/NetworkError``; on no particular thread.
    /// - Returns: The task, to cancel it.
    @discardableResult
    @preconcurrency
    public func send(
        _ request: some RequestConvertible, completion: @escaping RequestCallback
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
