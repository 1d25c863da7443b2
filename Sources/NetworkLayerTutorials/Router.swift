public import Foundation
public import FoundationNetworking
public import NetworkLayer

/// A closure that receives body and response, or an error. Called once.
public typealias NetworkRouterCompletion =
    @Sendable (_ data: Data?, _ response: URLResponse?, _ error: (any Error)?) -> Void

/// A type that sends the endpoints of one API.
public protocol NetworkRouter: AnyObject {
    /// The endpoints of the API.
    associatedtype EndPoint: EndPointType
    /// Sends a request and calls the closure once.
    @preconcurrency
    func request(_ route: EndPoint, completion: @escaping NetworkRouterCompletion)
    /// Cancels the running requests.
    func cancel()
}

/// A router that sends the endpoints of one API over either transport.
///
/// ```swift
/// let router = Router<MovieAPI>()
/// router.request(.popular(page: 1)) { data, response, error in
///     if let response = response as? HTTPURLResponse { print(response.statusCode, data?.count ?? 0) }
/// }
/// ```
///
/// The response is whatever the server sent: a 404 is not an error. The closures run on an unspecified thread.
/// Releasing a router does not end its requests.
public final class Router<EndPoint: EndPointType>: NetworkRouter, Sendable {
    private let client: NetworkClient
    private let tasks = TaskTable()

    /// Creates a router over a pipeline. Default: the pipeline over the default transport.
    public init(client: NetworkClient = .shared) { self.client = client }

    /// Sends a request and calls the closure once, with body and response, or with the error.
    @preconcurrency
    public func request(_ route: EndPoint, completion: @escaping NetworkRouterCompletion) {
        let number = tasks.nextNumber()
        let task = client.send(route) { [tasks] data, response, error in
            tasks.remove(number)
            completion(data, response, error)
        }
        tasks.add(task, as: number)
    }

    /// Cancels all running requests of this router. Each closure receives `CancellationError`, which the pattern
    /// ``NetworkCore/NetworkError/cancelled`` matches.
    public func cancel() {
        tasks.cancelAll()
    }
}
