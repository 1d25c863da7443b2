public import NetworkCore

extension CurlNetworkDispatcher {
    /// Opens connections to an origin ahead of the requests that will use them: name lookup, TCP, proxy, and TLS, but
    /// no request. Returns when all of them are open.
    ///
    /// The pool keeps these connections like any others: the server may close them, and the dispatcher stops using them
    /// after 50 s of idleness. A TLS 1.3 connection that speaks HTTP/1.1 and on which the server's session tickets wait
    /// serves one request, since what waits there can't be told from a response. From libcurl 8.14 on, a TLS 1.3
    /// connection that speaks HTTP/1.1 may turn out useless: these versions take session tickets that wait on it for
    /// its end.
    /// - Parameters:
    ///   - url: Any URL of the origin; its path is not requested.
    ///   - connections: The number of connections, from 1 to the smaller of
    ///     ``CurlNetworkDispatcher/Configuration/maximumConnectionsPerOrigin`` and
    ///     ``CurlNetworkDispatcher/Configuration/maximumConnections``. One is enough for HTTP/2.
    ///   - options: The options of the requests to come: a connection serves only requests with the same TLS, proxy,
    ///     and connection options. Credentials are not used.
    /// - Throws: The ``NetworkCore/NetworkError`` of the first connection that could not be opened, after which no
    ///   other one is begun; those that are open are kept. ``NetworkCore/NetworkError/Code/invalidOption`` for a number
    ///   of connections out of range, and for ``NetworkCore/TransportOptions/Connection/forbidsReuse``.
    ///   ``NetworkCore/NetworkError/Code/unsupported`` for HTTP/2 with prior knowledge: not every libcurl uses a
    ///   connection for it that has not spoken HTTP/2 yet; and through a proxy that speaks TLS, over whose connection
    ///   one request goes.
    public func prewarm(
        _ url: RequestURL, connections: Int = 1, options: TransportOptions = TransportOptions()
    ) async throws {
        guard (1...maximumPrewarmed).contains(connections) else {
            let problem = "connections is \(connections); it must be from 1 to \(maximumPrewarmed)"
            throw NetworkError(.invalidOption, problem, phase: .preparing)
        }
        guard !options.connection.forbidsReuse else {
            throw NetworkError(
                .invalidOption, "connection.forbidsReuse would close a connection opened ahead", phase: .preparing)
        }
        guard options.httpVersion != .http2PriorKnowledge else {
            throw NetworkError(
                .unsupported, "connections for HTTP/2 with prior knowledge can't be opened ahead", phase: .preparing)
        }
        var request = TransportRequest(method: .head, url: url, options: options)
        request.options.authentication = nil
        request.options.connection.isFresh = true
        let isThroughTLS =
            switch options.proxy {
            case .explicit(let proxy): proxy.isHTTPS
            case .environment: NoProxyOption.mayBeHTTPS(isSecure: request.url.scheme == "https")
            case .none: false
            }
        guard !isThroughTLS else { throw NetworkError.servesOneRequest }
        let opening = request
        let failure = await withTaskGroup(of: Result<Void, any Error>.self) { group in
            var (begun, failure) = (0, nil as (any Error)?)
            func begin() {
                guard begun < connections, failure == nil, !Task.isCancelled else { return }
                begun += 1
                group.addTask {
                    do { return .success(try await self.open(opening)) } catch { return .failure(error) }
                }
            }
            for _ in 0..<min(connections, Self.maximumOpening) { begin() }
            while let result = await group.next() {
                if case .failure(let error) = result { failure = failure ?? error }
                begin()
            }
            return failure ?? (begun < connections ? NetworkError.cancelled : nil)
        }
        if let failure { throw failure }
    }

    /// How many connections are opened at once by one call.
    private static let maximumOpening = 256
}

extension NetworkError {
    fileprivate static var servesOneRequest: NetworkError {
        NetworkError(
            .unsupported, "through a proxy that speaks TLS a connection serves one request, and can't be opened ahead",
            phase: .preparing)
    }
}
