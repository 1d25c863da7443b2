public import Foundation
public import FoundationNetworking
public import NetworkLayer

/// What a router calls back with: body and response, or an error. Called once.
public typealias NetworkRouterCompletion =
    @Sendable (_ data: Data?, _ response: URLResponse?, _ error: (any Error)?) -> Void

/// Sends the endpoints of one API.
public protocol NetworkRouter: AnyObject {
    /// The API.
    associatedtype EndPoint: EndPointType
    /// Sends a request and calls back once.
    @preconcurrency
    func request(_ route: EndPoint, completion: @escaping NetworkRouterCompletion)
    /// Ends what is under way.
    func cancel()
}

/// Sends the endpoints of one API over either transport.
///
/// ```swift
/// let router = Router<MovieAPI>()
/// router.request(.popular(page: 1)) { data, response, error in
///     if let response = response as? HTTPURLResponse { print(response.statusCode, data?.count ?? 0) }
/// }
/// ```
///
/// The response is whatever the server said: a 404 is no error. The closures are called on no particular thread. A
/// router may be dropped: what is under way goes on.
public final class Router<EndPoint: EndPointType>: NetworkRouter, Sendable {
    private let client: NetworkClient
    private let tasks = TaskTable()

    /// A router over a pipeline; that of the default transport if none is given.
    public init(client: NetworkClient = .standard) { self.client = client }

    /// Sends a request and calls back once: with body and response, or with the error.
    @preconcurrency
    public func request(_ route: EndPoint, completion: @escaping NetworkRouterCompletion) {
        let number = tasks.nextNumber()
        let task = client.send(route) { [tasks] data, response, error in
            tasks.remove(number)
            completion(data, response, error)
        }
        tasks.add(task, as: number)
    }

    /// Ends all requests of this router that are under way, each with ``NetworkCore/NetworkError/cancelled``.
    public func cancel() {
        tasks.cancelAll()
    }
}
