public import Foundation
public import FoundationNetworking
import NetworkCore
import Synchronization

/// A request of a ``URLSession`` under way.
///
/// @unchecked: the properties are constant or under a lock, and no other module can have a subclass.
public class URLSessionTask: NSObject, @unchecked Sendable {
    /// The state of a task.
    public enum State: Int, Sendable {
        /// It has been started and not ended.
        case running
        /// It has not been started.
        case suspended
        /// It has been cancelled and not ended.
        case canceling
        /// It has ended.
        case completed
    }

    private struct Values {
        var state = State.suspended
        var current: URLRequest?
        var response: URLResponse?
        var error: (any Error)?
        var work: (session: URLSession, run: @Sendable (URLSessionTask) async -> Void)?
        var cancel: (@Sendable () -> Void)?
        var delegate: (any URLSessionTaskDelegate)?
        var description: String?
    }

    private static let lastIdentifier = Atomic(0)
    /// The number of the task, unique in the process.
    public let taskIdentifier = URLSessionTask.lastIdentifier.add(1, ordering: .relaxed).newValue
    /// The request as it was given.
    public let originalRequest: URLRequest?
    private let values: Guarded<Values>

    init(_ request: URLRequest, delegate: (any URLSessionTaskDelegate)?) {
        originalRequest = request
        values = Guarded(Values(current: request, delegate: delegate))
    }

    /// The request that was sent last.
    public var currentRequest: URLRequest? { values.withLock(\.current) }
    /// The response, once its head has arrived.
    public var response: URLResponse? { values.withLock(\.response) }
    /// The error with which the task ended.
    public var error: (any Error)? { values.withLock(\.error) }
    /// The state of the task.
    public var state: State { values.withLock(\.state) }
    /// The delegate of this task alone, which comes before that of the session.
    public var delegate: (any URLSessionTaskDelegate)? {
        get { values.withLock(\.delegate) }
        set {
            let old = values.withLock { values in
                defer { values.delegate = newValue }
                return values.delegate
            }
            withExtendedLifetime(old) {}
        }
    }
    /// A text of the program's own.
    public var taskDescription: String? {
        get { values.withLock(\.description) }
        set { values.withLock { $0.description = newValue } }
    }

    /// Starts the task. A task that runs can't be suspended again.
    public func resume() { start(as: .running) }

    /// Starts the prepared work, which holds the task until its end.
    private func start(as state: State) {
        let work = values.withLock { values in
            guard values.state == .suspended else {
                return nil as (session: URLSession, run: @Sendable (URLSessionTask) async -> Void)?
            }
            values.state = state
            defer { values.work = nil }
            return values.work
        }
        guard let work else { return }
        // Before the work begins: `finishTasksAndInvalidate()` waits for the tasks that the session knows.
        work.session.add(self)
        Task { await work.run(self) }
    }

    /// Ends the task with `URLError.cancelled`, also one that has not been started.
    public func cancel() {
        start(as: .canceling)
        let cancel = values.withLock { values in
            if values.state == .running { values.state = .canceling }
            return values.cancel
        }
        cancel?()
    }

    func prepare(in session: URLSession, _ work: @escaping @Sendable (URLSessionTask) async -> Void) {
        values.withLock { $0.work = (session, work) }
    }
    /// A task without prepared work is one of an asynchronous call, which has begun.
    func begin() { values.withLock { if $0.state == .suspended { $0.state = .running } } }
    func received(_ response: URLResponse) { values.withLock { $0.response = response } }
    func following(_ request: URLRequest) { values.withLock { $0.current = request } }
    func finish(_ error: (any Error)?) {
        values.withLock { ($0.state, $0.error, $0.cancel) = (.completed, error, nil) }
    }

    /// Sets what ends the present step, and does it at once if the task has been cancelled already.
    private func cancelling(_ cancel: @escaping @Sendable () -> Void) {
        let isLate = values.withLock { values in
            if values.state != .completed { values.cancel = cancel }
            return values.state == .canceling
        }
        if isLate { cancel() }
    }

    /// Runs a step that ``cancel()`` and the caller's own cancellation end.
    func step<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        if state == .canceling { throw NetworkError.cancelled }
        let step = Task { try await work() }
        cancelling { step.cancel() }
        return try await withTaskCancellationHandler {
            try await step.value
        } onCancel: {
            step.cancel()
        }
    }
}

/// A task whose response stays in memory, or goes to a delegate piece by piece.
public class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}  // As its superclass; it adds nothing.

/// A task with a body.
public final class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {}  // As its superclass.

/// A task whose response goes to a file.
public final class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {}  // As its superclass.
