import Dispatch
import Foundation
import FoundationNetworking
public import NetworkCore

/// A transport that sends requests with Foundation's URLSession.
///
/// On Linux, FoundationNetworking has limits that no caller can lift. What it can't do is refused before anything is
/// sent (see ``capabilities``); the rest follows here:
///
/// - A response with trailers crashes the process. So does a redirect whose `Location` starts with `//` and has an IPv6
///   address or a percent-encoded character in its host, a connection that the server closes within the response's
///   head, and a `Content-Length` just below 2^63. A head of ten thousand lines blocks all exchanges of the process for
///   seconds. Use the curl transport for peers that you don't trust.
/// - Header fields are sent in no particular order, repeated ones joined by `, `. They are received sorted by name,
///   re-cased (`Etag`), with repeated ones joined by `, `. Joined `Set-Cookie` fields are split again after an
///   attribute; a cookie without attributes has the next one as a part of its value.
/// - A head with bytes that are not UTF-8, a line without a space after the colon, or a status line without a reason
///   fails with ``NetworkCore/NetworkError/Code/invalidResponse``.
/// - The body of a 301, 302, 303, 305, 306, 307, or 308 without a usable `Location` is lost; status and header fields
///   arrive. With a usable one, the whole body is held before any check can refuse it.
/// - A gzip body that ends early but agrees with its `Content-Length` is taken for complete.
/// - A body that was being sent on a kept-alive connection when the server closed it is not sent again: the exchange
///   ends with a timeout.
/// - There is no back pressure: a body comes as fast as the server sends it, whether it is read or not. Its unread part
///   may grow to ``NetworkCore/TransportOptions/maximumBodyBytes`` (or to 256 KiB, if that is more), the memory that
///   the caller allows for a body. Beyond that the exchange fails with ``NetworkCore/NetworkError/Code/bodyTooLarge``,
///   after the reader has received what was held. A reader that keeps up can read a body of any length.
/// - The head of a redirect arrives with the end of its body. The head of a response through a proxy's tunnel arrives
///   with the first byte of its body, since the proxy's own response looks the same until then.
/// - The connect timeout is approximate. URLSession does not report when a connection is made; the first sent part of a
///   body, a challenge, and a response prove one. Without such a sign when the time is up, the kernel's table of
///   connections decides. If this process has a connection to the URL's port, the exchange continues under the idle
///   timeout, which then counts from the start; if not, it fails with ``NetworkCore/NetworkError/Code/connectTimeout``.
///   Where the table can't be read, or a proxy may be on the way, only the idle timeout counts.
public final class URLSessionNetworkDispatcher: ShutsDown, NetworkDispatcher {
    /// The only instance: URLSession serializes all sessions of a process anyway.
    public static let shared = URLSessionNetworkDispatcher()
    /// The tutorials' name for ``shared``.
    public static var instance: URLSessionNetworkDispatcher { shared }

    /// The maximum number of connections to one host; the same as in the curl transport.
    static let maximumConnectionsPerOrigin = 128

    private let exchanges = ExchangeRegistry()
    private let session: URLSession
    private let drain = Drain()

    // Starts and cancellations go through one serial queue: a cancellation never overtakes its start, and cancelling
    // many tasks at once from many threads deadlocks FoundationNetworking.
    private let commands = DispatchQueue(label: "urlsession-transport.commands")
    private let alarms = DispatchQueue(label: "urlsession-transport.alarms")

    init() {
        session = URLSession(configuration: Self.configuration(), delegate: exchanges, delegateQueue: nil)
    }

    /// The transport's name, `urlsession`.
    public var name: String { "urlsession" }

    /// Sends one request and returns its response, whatever the status, when the head has arrived. Returns a redirect
    /// as it is.
    ///
    /// Cancelling the task ends the exchange and throws ``NetworkError/Code/cancelled`` at once.
    /// - Throws: ``NetworkError``, each failure once, with the exchange that it belongs to.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        guard request.isAuthenticatedInSteps else { return try await sendOnce(request) }
        return try await request.authenticated(sendOnce)
    }

    private func sendOnce(_ request: TransportRequest) async throws -> TransportResponse {
        let started = ContinuousClock.now
        do {
            try request.check(for: capabilities)
            let urlRequest = try URLRequest(request)
            let state = ExchangeState(request, throughProxy: ProxyEnvironment.mayApply, at: started)
            let exchange = Exchange(state, commands: commands, alarms: alarms)
            guard drain.enter(exchange) else { throw Self.isShutDown(.preparing) }
            let head = try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    exchange.attach(continuation)
                    start(exchange, with: urlRequest)
                }
            } onCancel: {
                exchange.cancel()
            }
            return TransportResponse(
                head: head,
                body: TransportResponse.Body(source: URLSessionBody(exchange, transport: name))
            )
        } catch {
            let failure = error as? NetworkError ?? NetworkError(.unclassified, NetworkError.logText(of: error))
            throw failure.during(request, transport: name, elapsed: .now - started)
        }
    }

    /// Shuts the process's only URLSession transport down in order, for good: new requests are refused with
    /// ``NetworkCore/NetworkError/Code/shutDown``, and what has not ended in time fails with it.
    ///
    /// Returns when the exchanges are over, or 5 s after the time if Foundation is busy.
    /// - Parameter patience: The time that running requests may still take; `.zero` ends them at once. Cancelling the
    ///   task ends it.
    public func shutDown(within patience: Duration) async {
        drain.close()
        await drain.wait(for: patience)
        for exchange in drain.open { exchange.failed(Self.isShutDown(nil), cancellingTask: true) }
        // In a task of its own: the caller's may be cancelled.
        await Task { [drain] in await drain.wait(for: .seconds(5)) }.value
    }

    private static func isShutDown(_ phase: NetworkError.Phase?) -> NetworkError {
        NetworkError(.shutDown, "the URLSession transport has been shut down", phase: phase)
    }

    /// The number of exchanges under way, for tests of leaks.
    var openExchanges: Int { exchanges.count }

    private func start(_ exchange: Exchange, with request: URLRequest) {
        commands.async { [session, exchanges, drain] in
            guard exchange.begin() else { return drain.leave(exchange) }
            let task = session.dataTask(with: request)
            exchanges.add(exchange, for: task)
            exchange.run(task) { [drain] in
                exchanges.remove(task)
                drain.leave(exchange)
            }
        }
    }

    private static func configuration() -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        // With a cache, a cancellation can crash the process; cookies and credentials belong to the pipeline.
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpCookieStorage = nil
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.urlCredentialStorage = nil
        configuration.httpMaximumConnectionsPerHost = maximumConnectionsPerOrigin
        configuration.timeoutIntervalForRequest = URLRequest.noTimeout
        configuration.timeoutIntervalForResource = URLRequest.noTimeout
        return configuration
    }
}
