import Foundation
import FoundationNetworking
import NetworkCore
import Synchronization

/// The session's delegate, which finds the exchange that a task belongs to and reports events to it.
///
/// Tasks whose exchange is over are unknown here, and their further events are dropped.
final class ExchangeRegistry: NSObject, Sendable {
    private let exchanges = Guarded<[Int: Exchange]>([:])

    func add(_ exchange: Exchange, for task: URLSessionTask) {
        exchanges.withLock { $0[task.taskIdentifier] = exchange }
    }

    func remove(_ task: URLSessionTask) {
        _ = exchanges.withLock { $0.removeValue(forKey: task.taskIdentifier) }
    }

    /// The number of exchanges under way.
    var count: Int { exchanges.withLock { $0.count } }

    private func exchange(of task: URLSessionTask) -> Exchange? {
        exchanges.withLock { $0[task.taskIdentifier] }
    }
}

extension ExchangeRegistry: URLSessionDataDelegate {
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        exchange(of: task)?.sent(totalBytes: Int(totalBytesSent))
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if let head = HTTPResponse(response) {
            exchange(of: dataTask)?.received(head)
        } else {
            let error = NetworkError(.invalidResponse, "what arrived is not an HTTP response", phase: .receiving)
            exchange(of: dataTask)?.failed(error, cancellingTask: true)
        }
        // FoundationNetworking ignores the disposition.
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard !data.isEmpty else { return }
        exchange(of: dataTask)?.received(data)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // The pipeline follows redirects; nil makes the redirect itself the response. A task whose exchange is over has
        // been cancelled, and its handler is not called.
        exchange(of: task)?.keepRedirect { completionHandler(nil) }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        // The 401's head and body have arrived already. Any disposition of the challenge hangs or fails the task, and
        // FoundationNetworking repeats the challenge indefinitely. So the response ends here, and the handler is never
        // called.
        exchange(of: task)?.finished(lateHead: task.response.flatMap(HTTPResponse.init), cancellingTask: true)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        // Our bodies are bytes, never streams; returning a stream here crashes the process.
        completionHandler(nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let exchange = exchange(of: task) else { return }
        if let error {
            exchange.failed(NetworkError(urlSessionError: error))
        } else {
            exchange.finished(lateHead: task.response.flatMap(HTTPResponse.init))
        }
    }
}
