import Foundation
import FoundationNetworking

/// Plain URLSession: the default configuration and the documented API.
enum RawClient {
    static let session = URLSession(configuration: .default)

    static func request(_ ask: Ask, to url: String) -> URLRequest? {
        guard let url = URL(string: url) else { return nil }
        var request = URLRequest(url: url)
        request.httpMethod = ask.method
        for (name, value) in ask.fields { request.setValue(value, forHTTPHeaderField: name) }
        if let body = ask.body {
            if ask.streamsBody { request.httpBodyStream = InputStream(data: body) } else { request.httpBody = body }
        }
        if let seconds = ask.idleSeconds { request.timeoutInterval = seconds }
        return request
    }

    static func send(_ ask: Ask, to url: String) async -> Answer {
        guard let request = request(ask, to: url) else { return Answer(failure: "the text is not a URL") }
        guard let seconds = ask.totalSeconds else { return await send(request, over: session) }
        let configuration = URLSessionConfiguration.default
        configuration.timeoutIntervalForResource = seconds
        return await send(request, over: URLSession(configuration: configuration))
    }

    static func send(_ request: URLRequest, over session: URLSession) async -> Answer {
        do {
            let (body, response) = try await session.data(for: request)
            return Answer(response as? HTTPURLResponse, body)
        } catch {
            return Answer(failure: "\((error as NSError).code)")
        }
    }
}

extension Answer {
    init(_ response: HTTPURLResponse?, _ body: Data) {
        status = response?.statusCode
        self.body = body
        fields =
            response?.allHeaderFields.compactMap { entry in
                (entry.key as? String).map { ($0, "\(entry.value)") }
            } ?? []
    }
}

/// A delegate that records its calls.
final class RawDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    // Sendable because the lock guards all mutable state.
    private let lock = NSLock()
    private var statuses: [Int] = []
    private var body = Data()
    private var failure: String?
    private let isOver = DispatchSemaphore(value: 0)
    private let onFirstData: @Sendable (URLSessionDataTask) -> Void
    private let newBody: Data?

    init(newBody: Data? = nil, onFirstData: @escaping @Sendable (URLSessionDataTask) -> Void = { _ in }) {
        self.newBody = newBody
        self.onFirstData = onFirstData
    }

    var seen: (statuses: [Int], body: Data, failure: String?) { lock.withLock { (statuses, body, failure) } }

    /// Waits on its own thread until the task has ended.
    func end() async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [isOver] in
                isOver.wait()
                continuation.resume()
            }
        }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        lock.withLock { statuses.append((response as? HTTPURLResponse)?.statusCode ?? 0) }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isFirst = lock.withLock {
            defer { body += data }
            return body.isEmpty
        }
        if isFirst { onFirstData(dataTask) }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping (InputStream?) -> Void
    ) {
        completionHandler(newBody.map { InputStream(data: $0) })
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        lock.withLock { failure = error.map { "\(($0 as NSError).code)" } }
        isOver.signal()
    }
}
