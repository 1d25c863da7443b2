public import Foundation
public import FoundationNetworking
import NetworkCore
import NetworkLayer
import Synchronization

/// URLSession's interface over a ``NetworkCore/NetworkClient``, by which code that was written for Apple's platforms
/// runs over curl.
///
/// ```swift
/// import NetworkURLSession  // in place of FoundationNetworking
///
/// let (bytes, response) = try await URLSession.shared.bytes(for: request)
/// for try await line in bytes.lines { print(line) }
/// ```
///
/// Any status is a response, and every failure of a request is a `URLError`, whose `networkError` says more.
/// <doc:RunningAnAppleSDK> has the differences.
public final class URLSession: NSObject, Sendable {
    /// The session with the default configuration and no delegate.
    public static let shared = URLSession(configuration: .default)

    /// What a delegate decides about a challenge.
    public enum AuthChallengeDisposition: Int, Sendable {
        /// Sends the request again with the credential.
        case useCredential
        /// Makes the 401 the response.
        case performDefaultHandling
        /// Ends the task with `URLError.cancelled`.
        case cancelAuthenticationChallenge
        /// Makes the 401 the response.
        case rejectProtectionSpace
    }

    /// What a delegate decides about a response.
    public enum ResponseDisposition: Int, Sendable {
        /// Ends the task with `URLError.cancelled`.
        case cancel
        /// Goes on.
        case allow
    }

    private struct State {
        var delegate: (any URLSessionDelegate)?
        var isInvalid = false
        var tasks: [Int: URLSessionTask] = [:]
    }

    /// The queue of the delegate's calls and the completion handlers; it runs one at a time unless one was given.
    public let delegateQueue: OperationQueue
    let client: NetworkClient
    let additionalFields: [String: String]
    private let state: Guarded<State>

    /// Creates a session.
    /// - Parameters:
    ///   - configuration: The configuration, which is copied.
    ///   - delegate: The delegate, held until the session is invalidated.
    ///   - queue: The queue of the delegate's calls. Default: a serial one of the session's own.
    public init(
        configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)? = nil,
        delegateQueue queue: OperationQueue? = nil
    ) {
        (client, additionalFields) = (configuration.sessionClient, configuration.additionalFields)
        let serial = OperationQueue()
        serial.maxConcurrentOperationCount = 1
        delegateQueue = queue ?? serial
        state = Guarded(State(delegate: delegate))
    }

    /// The delegate, until the session is invalidated.
    public var delegate: (any URLSessionDelegate)? { state.withLock(\.delegate) }

    /// Ends all tasks and releases the delegate. Later tasks fail with `URLError.cancelled`. Without effect on
    /// ``shared``, which others use.
    public func invalidateAndCancel() {
        guard self !== URLSession.shared else { return }
        let tasks = state.withLock { state in
            state.isInvalid = true
            return Array(state.tasks.values)
        }
        for task in tasks { task.cancel() }
        releaseIfDone()
    }

    /// Lets the tasks end that run, then releases the delegate. Later tasks fail with `URLError.cancelled`. Without
    /// effect on ``shared``.
    public func finishTasksAndInvalidate() {
        guard self !== URLSession.shared else { return }
        state.withLock { $0.isInvalid = true }
        releaseIfDone()
    }

    private func releaseIfDone() {
        let delegate = state.withLock { state in
            guard state.isInvalid, state.tasks.isEmpty else { return nil as (any URLSessionDelegate)? }
            defer { state.delegate = nil }
            return state.delegate
        }
        guard let delegate else { return }
        delegateQueue.addOperation { delegate.urlSession(self, didBecomeInvalidWithError: nil) }
    }

    /// Adds a task; `false` after the session's end, unless it was added before.
    @discardableResult
    func add(_ task: URLSessionTask) -> Bool {
        state.withLock { state in
            guard !state.isInvalid else { return state.tasks[task.taskIdentifier] != nil }
            state.tasks[task.taskIdentifier] = task
            return true
        }
    }

    func remove(_ task: URLSessionTask) {
        _ = state.withLock { $0.tasks.removeValue(forKey: task.taskIdentifier) }
        releaseIfDone()
    }

    func taskDelegate(of task: URLSessionTask) -> (any URLSessionTaskDelegate)? {
        task.delegate ?? delegate as? any URLSessionTaskDelegate
    }

    /// Asks the delegate on its queue, and waits until it calls back. Later calls change nothing, and a cancellation
    /// ends the wait: a delegate need not call back after it.
    func ask<Value: Sendable>(
        _ question: @escaping @Sendable (@escaping @Sendable (Value) -> Void) -> Void
    ) async throws -> Value {
        let outcome = FirstOutcome<Value>()
        delegateQueue.addOperation { question { outcome.finish(.success($0)) } }
        return try await outcome.value(orWhenCancelled: NetworkError.cancelled)
    }

    /// Runs a call of the delegate on its queue.
    func tell(_ work: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            delegateQueue.addOperation {
                work()
                continuation.resume()
            }
        }
    }
}

extension URLSession {
    /// Sends a request and returns the whole body, of at most `client.options.maximumBodyBytes` (64 MiB).
    /// - Throws: `URLError`.
    public func data(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await collected(URLSessionDataTask(request, delegate: delegate), nil)
    }

    /// Sends a GET and returns the whole body.
    /// - Throws: `URLError`.
    public func data(
        from url: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await data(for: URLRequest(url: url), delegate: delegate)
    }

    /// Sends bytes and returns the whole body of the response.
    /// - Throws: `URLError`.
    public func upload(
        for request: URLRequest, from bodyData: Data, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await collected(
            URLSessionUploadTask(request, delegate: delegate), .bytes(bodyData, contentType: nil))
    }

    /// Sends a file, which is read while it is sent, and returns the whole body of the response.
    /// - Throws: `URLError`.
    public func upload(
        for request: URLRequest, fromFile fileURL: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await collected(
            URLSessionUploadTask(request, delegate: delegate), .file(fileURL.path, contentType: nil))
    }

    /// Sends a request and returns the body as it arrives.
    /// - Throws: `URLError`.
    public func bytes(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (AsyncBytes, URLResponse) {
        let task = URLSessionDataTask(request, delegate: delegate)
        let exchange = try await begin(task, nil)
        return (AsyncBytes(task: task, chunks: { try await exchange.next() }), exchange.response)
    }

    /// Sends a GET and returns the body as it arrives.
    /// - Throws: `URLError`.
    public func bytes(
        from url: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (AsyncBytes, URLResponse) {
        try await bytes(for: URLRequest(url: url), delegate: delegate)
    }

    /// Sends a request and writes the body to a temporary file, which the caller moves or removes.
    /// - Throws: `URLError`.
    public func download(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (URL, URLResponse) {
        try await downloaded(URLSessionDownloadTask(request, delegate: delegate))
    }

    /// Sends a GET and writes the body to a temporary file, which the caller moves or removes.
    /// - Throws: `URLError`.
    public func download(
        from url: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (URL, URLResponse) {
        try await download(for: URLRequest(url: url), delegate: delegate)
    }
}
