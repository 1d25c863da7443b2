public import Foundation
public import FoundationNetworking
import NetworkCore

extension URLSession {
    /// Creates a task whose response goes to the session's ``URLSessionDataDelegate``.
    public func dataTask(with request: URLRequest) -> URLSessionDataTask {
        let task = URLSessionDataTask(request, delegate: nil)
        task.prepare(in: self) { [self] task in
            guard let task = task as? URLSessionDataTask, let exchange = try? await begin(task, nil) else { return }
            let delegate = taskDelegate(of: task) as? any URLSessionDataDelegate
            if let delegate {
                let disposition = try? await task.step { [self] in
                    try await ask { answer in
                        delegate.urlSession(
                            self, dataTask: task, didReceive: exchange.response, completionHandler: answer)
                    }
                }
                guard disposition == .allow else { return await exchange.end(URLError(.cancelled)) }
            }
            // The error reaches the delegate with the end of the task.
            while let chunk = try? await exchange.next() {
                if let delegate { await tell { delegate.urlSession(self, dataTask: task, didReceive: chunk) } }
            }
        }
        return task
    }

    /// Creates a task for a GET whose response goes to the session's ``URLSessionDataDelegate``.
    public func dataTask(with url: URL) -> URLSessionDataTask { dataTask(with: URLRequest(url: url)) }

    /// Creates a task that calls the handler once, on the delegate's queue.
    public func dataTask(
        with request: URLRequest,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask {
        let task = URLSessionDataTask(request, delegate: nil)
        prepare(task, completionHandler) { try await self.collected($0, nil) }
        return task
    }

    /// Creates a task for a GET that calls the handler once, on the delegate's queue.
    public func dataTask(
        with url: URL, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask {
        dataTask(with: URLRequest(url: url), completionHandler: completionHandler)
    }

    /// Creates a task that sends bytes and calls the handler once, on the delegate's queue.
    public func uploadTask(
        with request: URLRequest, from bodyData: Data?,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        let task = URLSessionUploadTask(request, delegate: nil)
        prepare(task, completionHandler) {
            try await self.collected($0, bodyData.map { .bytes($0, contentType: nil) })
        }
        return task
    }

    /// Creates a task that sends a file and calls the handler once, on the delegate's queue.
    public func uploadTask(
        with request: URLRequest, fromFile fileURL: URL,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        let task = URLSessionUploadTask(request, delegate: nil)
        prepare(task, completionHandler) { try await self.collected($0, .file(fileURL.path, contentType: nil)) }
        return task
    }

    /// Creates a task that writes the body to a file and calls the handler once, on the delegate's queue. The file is
    /// removed when the handler returns.
    public func downloadTask(
        with request: URLRequest,
        completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        let task = URLSessionDownloadTask(request, delegate: nil)
        prepare(task) { file, response, error in
            completionHandler(file, response, error)
            if let file { try? FileManager.default.removeItem(at: file) }
        } run: {
            try await self.downloaded($0)
        }
        return task
    }

    private func prepare<Value: Sendable>(
        _ task: URLSessionTask,
        _ handler: @escaping @Sendable (Value?, URLResponse?, (any Error)?) -> Void,
        run: @escaping @Sendable (URLSessionTask) async throws -> (Value, URLResponse)
    ) {
        task.prepare(in: self) { [self] task in
            do {
                let (value, response) = try await run(task)
                await tell { handler(value, response, nil) }
            } catch {
                await tell { handler(nil, task.response, error) }
            }
        }
    }
}
