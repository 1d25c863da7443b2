import Foundation
import FoundationNetworking
import HTTPTypes
import NetworkCore
import NetworkLayer
import Synchronization

/// A response whose body is being read.
final class RunningExchange: Sendable {
    let response: URLResponse
    private let session: URLSession
    private let task: URLSessionTask
    private let log: TransactionLog
    private let body: TransportResponse.Body
    private let isOver = OneTimeFlag()

    init(
        _ response: URLResponse, _ body: TransportResponse.Body, of task: URLSessionTask, in session: URLSession,
        _ log: TransactionLog
    ) {
        (self.response, self.body, self.task, self.session, self.log) = (response, body, task, session, log)
    }

    /// A task whose body is released before its end was cancelled.
    deinit {
        guard isOver.raise() else { return }
        let (session, task, log) = (session, task, log)
        Task { await session.finish(task, URLError(.cancelled), log) }
    }

    /// Returns the next chunk; `nil` at the end.
    func next() async throws -> Data? {
        guard !isOver.isRaised else { return nil }
        return try await read {
            var iterator = $0.makeAsyncIterator()
            return try await iterator.next()
        } isEnd: {
            $0 == nil
        }
    }

    func collect() async throws -> Data {
        try await read {
            try await $0.collect()
        } isEnd: { _ in
            true
        }
    }

    private func read<Value: Sendable>(
        _ read: @escaping @Sendable (TransportResponse.Body) async throws -> Value, isEnd: (Value) -> Bool
    ) async throws -> Value {
        do {
            let body = body
            let value = try await task.step { try await read(body) }
            if isEnd(value) { await end(nil) }
            return value
        } catch {
            let error = URLError.from(error, url: task.originalRequest?.url)
            await end(error)
            throw error
        }
    }

    /// Ends the task for another reason than the body's own.
    func end(_ error: (any Error)?) async {
        if isOver.raise() { await session.finish(task, error, log) }
    }
}

extension URLSession {
    /// The number of times that a delegate is asked for credentials.
    private static let maximumChallenges = 5

    func collected(_ task: URLSessionTask, _ content: RequestContent?) async throws -> (Data, URLResponse) {
        let exchange = try await begin(task, content)
        return (try await exchange.collect(), exchange.response)
    }

    func downloaded(_ task: URLSessionTask) async throws -> (URL, URLResponse) {
        let exchange = try await begin(task, nil)
        let file = FileManager.default.temporaryDirectory.appending(path: "URLSessionDownload-\(UUID().uuidString).tmp")
        do {
            do {
                try Data().write(to: file, options: .withoutOverwriting)
                let handle = try FileHandle(forWritingTo: file)
                defer { try? handle.close() }
                while let chunk = try await exchange.next() { try handle.write(contentsOf: chunk) }
            } catch let error as URLError {
                throw error
            } catch {
                let info: [String: Any] = [NSUnderlyingErrorKey: error, NSURLErrorFailingURLErrorKey: file]
                throw URLError(.cannotWriteToFile, userInfo: info)
            }
        } catch {
            try? FileManager.default.removeItem(at: file)
            await exchange.end(error)
            throw error
        }
        return (file, exchange.response)
    }

    /// Sends a task's request until there is a response that is not a challenge.
    func begin(_ task: URLSessionTask, _ content: RequestContent?) async throws -> RunningExchange {
        let log = TransactionLog()
        do {
            guard add(task) else { throw NetworkError.cancelled }
            task.begin()
            if let delegate = taskDelegate(of: task) { await tell { delegate.urlSession(self, didCreateTask: task) } }
            let (response, head) = try await task.step { try await self.response(to: task, content, log) }
            task.received(head)
            return RunningExchange(head, response.body, of: task, in: self, log)
        } catch {
            let error = URLError.from(error, url: task.originalRequest?.url)
            await finish(task, error, log)
            throw error
        }
    }

    func finish(_ task: URLSessionTask, _ error: (any Error)?, _ log: TransactionLog) async {
        task.finish(error)
        if let delegate = taskDelegate(of: task) {
            let metrics = log.metrics
            await tell {
                delegate.urlSession(self, task: task, didFinishCollecting: metrics)
                delegate.urlSession(self, task: task, didCompleteWithError: error)
            }
        }
        remove(task)
    }

    private func response(
        to task: URLSessionTask, _ content: RequestContent?, _ log: TransactionLog
    ) async throws -> (NetworkResponse<TransportResponse.Body>, HTTPURLResponse) {
        guard let request = task.originalRequest else { throw NetworkError.invalidURL }
        var data = request.data
        if let content { data.content = content }
        let names = Set(data.headerFields.keys.map { $0.lowercased() })
        for (name, value) in additionalFields where !names.contains(name.lowercased()) {
            data.headerFields[name] = value
        }
        let delegate = taskDelegate(of: task)
        if let delegate { data.content = data.content.map { reporting($0, of: task, to: delegate) } }
        var client = client.with { client in
            client.exchangeInterceptors.append(log)
            if !request.httpShouldHandleCookies { client.cookieJar = nil }
            if let delegate {
                let maximum = client.redirectPolicy.maximumRedirects
                client.redirectPolicy = .deciding { try await self.decision(on: $0, of: task, delegate) }
                client.redirectPolicy.maximumRedirects = maximum
            }
        }
        var failures = 0
        while true {
            let response = try await client.send(data, as: .stream)
            guard let head = response.httpURLResponse else {
                throw NetworkError(.invalidResponse, "Foundation can't hold the response's head", phase: .receiving)
            }
            // After a redirect the challenge is another server's, and the request would begin at the first one again.
            guard head.statusCode == 401, response.redirects.isEmpty, let delegate, failures < Self.maximumChallenges,
                let challenge = URLAuthenticationChallenge(response, head, failures)
            else { return (response, head) }
            task.received(head)
            let scheme = challenge.protectionSpace.authenticationMethod
            let (disposition, credential) = await delegate.urlSession(self, task: task, didReceive: challenge)
            switch disposition {
            case .useCredential:
                guard let user = credential?.user, let password = credential?.password else { return (response, head) }
                client.options.authentication =
                    scheme == NSURLAuthenticationMethodHTTPDigest
                    ? .digest(user: user, password: .init(password)) : .basic(user: user, password: .init(password))
                failures += 1
            case .cancelAuthenticationChallenge: throw NetworkError.cancelled
            case .performDefaultHandling, .rejectProtectionSpace: return (response, head)
            }
        }
    }

    private func reporting(
        _ content: RequestContent, of task: URLSessionTask, to delegate: any URLSessionTaskDelegate
    ) -> RequestContent {
        let last = Guarded(0)
        return content.reportingProgress { [self] progress in
            let piece = last.withLock { last in
                defer { last = progress.completed }
                return progress.completed - last
            }
            guard piece > 0 else { return }
            delegateQueue.addOperation {
                delegate.urlSession(
                    self, task: task, didSendBodyData: Int64(piece), totalBytesSent: Int64(progress.completed),
                    totalBytesExpectedToSend: Int64(progress.total ?? -1))
            }
        }
    }

    private func decision(
        on proposal: RedirectPolicy.Proposal, of task: URLSessionTask, _ delegate: any URLSessionTaskDelegate
    ) async throws -> RedirectPolicy.Decision {
        guard let head = proposal.head.urlResponse(of: proposal.redirect.from),
            let proposed = URLRequest(proposal.request)
        else { return .follow(proposal.request) }
        let request = await delegate.urlSession(
            self, task: task, willPerformHTTPRedirection: head, newRequest: proposed)
        guard let request else { return .stop }
        task.following(request)
        // Foundation's '==' does not see header fields.
        let isProposed =
            request.url == proposed.url && request.httpMethod == proposed.httpMethod
            && request.allHTTPHeaderFields == proposed.allHTTPHeaderFields
        if isProposed { return .follow(proposal.request) }
        var changed = proposal.request
        changed.url = try RequestURL(request.url?.absoluteString ?? "")
        changed.method = try HTTPRequest.Method(checking: request.httpMethod ?? "GET")
        changed.headerFields = try HTTPFields(checking: request.allHTTPHeaderFields ?? [:])
        // What the delegate could not see in its request goes to the proposed origin alone.
        if !changed.url.hasSameOrigin(as: proposal.request.url) { OfOneOrigin.remove(from: &changed.options) }
        return .follow(changed)
    }
}

extension URLAuthenticationChallenge {
    /// The first challenge of a 401 that a client can meet with a user and a password.
    fileprivate convenience init?(
        _ response: NetworkResponse<TransportResponse.Body>, _ head: HTTPURLResponse, _ failures: Int
    ) {
        let methods = ["digest": NSURLAuthenticationMethodHTTPDigest, "basic": NSURLAuthenticationMethodHTTPBasic]
        let found = response.headerFields[values: .wwwAuthenticate].flatMap { AuthenticationChallenge.all(in: $0) }
        guard let challenge = found.first(where: { methods[$0.scheme] != nil }), let url = response.url else {
            return nil
        }
        let space = URLProtectionSpace(
            host: url.host, port: url.effectivePort, protocol: url.scheme, realm: challenge["realm"],
            authenticationMethod: methods[challenge.scheme])
        self.init(
            protectionSpace: space, proposedCredential: nil, previousFailureCount: failures, failureResponse: head,
            error: nil, sender: NoSender.shared)
    }
}

/// The form with a sender is of long ago; a delegate returns its decision.
private final class NoSender: NSObject, URLAuthenticationChallengeSender, Sendable {
    static let shared = NoSender()

    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
    func cancel(_ challenge: URLAuthenticationChallenge) {}
    func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
}
