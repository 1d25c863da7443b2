#if Metrics
import HTTPTypes
public import Metrics
public import NetworkCore
import Synchronization

extension NetworkClient {
    /// Returns the client with metrics of [swift-metrics](https://github.com/apple/swift-metrics), by the names of
    /// [OpenTelemetry's conventions](https://opentelemetry.io/docs/specs/semconv/http/http-metrics/#http-client).
    ///
    /// | metric | kind | of |
    /// | --- | --- | --- |
    /// | `http.client.request.duration` | timer, seconds | each exchange, to the end of its response's body |
    /// | `http.client.request.body.size` | recorder, bytes | each exchange with a body, as it is sent |
    /// | `http.client.response.body.size` | recorder, bytes | each exchange, as it is received |
    /// | `http.client.active_requests` | meter | the exchanges that have begun and not ended |
    /// | `networklayer.client.call.duration` | timer, seconds | each call: over all attempts, to the end of the body |
    /// | `networklayer.client.call.retries` | counter | the attempts of calls after the first one |
    ///
    /// Dimensions of exchanges: `http.request.method`, `server.address`, `server.port`, `url.template`
    /// (``NetworkCore/TransportRequest/template``), `http.response.status_code`, `network.protocol.version`, and for
    /// failures `error.type`: the error's code, or a status of 400 or more. Those of calls: the method, the template
    /// and `error.type`. A URL is never one. Of the servers, 100 have a name and a port, the first ones of the process;
    /// the others together are `_OTHER`, as are methods that no standard knows.
    ///
    /// The buckets of a histogram are the backend's: ``durationBuckets`` has the convention's.
    /// - Parameter factory: What makes the metrics. Default: that of the process (`MetricsSystem.factory`), which does
    ///   nothing in a program without one.
    public func measured(by factory: (any MetricsFactory)? = nil) -> NetworkClient {
        with {
            $0.interceptors.removeAll { $0 is CallMetrics }
            $0.exchangeInterceptors.removeAll { $0 is ExchangeMetrics }
            $0.interceptors.insert(CallMetrics(factory: factory), at: 0)
            $0.exchangeInterceptors.append(ExchangeMetrics(factory: factory))
        }
    }

    /// The bounds of the buckets for durations, in seconds, by OpenTelemetry's conventions.
    public static let durationBuckets = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
}

private typealias Dimensions = [(String, String)]

private struct CallMetrics: Interceptor {
    let factory: (any MetricsFactory)?

    func intercept(_ request: TransportRequest, in call: Call, next: Next) async throws -> TransportResponse {
        let factory = factory ?? MetricsSystem.factory
        return try await next.watched(request, in: call) { outcome in
            let dimensions = request.dimensions + outcome.dimensions(withStatus: false)
            factory.timer("networklayer.client.call.duration", dimensions).record(duration: call.elapsed)
            guard call.attempts > 1 else { return }
            Counter(label: "networklayer.client.call.retries", dimensions: request.dimensions, factory: factory)
                .increment(by: call.attempts - 1)
        }
    }
}

private struct ExchangeMetrics: Interceptor {
    let factory: (any MetricsFactory)?

    func intercept(_ request: TransportRequest, in call: Call, next: Next) async throws -> TransportResponse {
        let (factory, start) = (factory ?? MetricsSystem.factory, ContinuousClock.now)
        let known = request.dimensions + request.serverDimensions
        let active = ActiveRequests.shared
        active.change(by: 1, known, factory)
        return try await next.watched(request, in: call) { outcome in
            active.change(by: -1, known, factory)
            let metrics = outcome.response?.metrics
            var dimensions = known + outcome.dimensions(withStatus: true)
            if let version = metrics?.httpVersion { dimensions.append(("network.protocol.version", version)) }
            factory.timer("http.client.request.duration", dimensions).record(duration: start.duration(to: .now))
            if let bytes = metrics?.requestBodyBytes {
                Recorder(
                    label: "http.client.request.body.size", dimensions: dimensions, aggregate: true, factory: factory
                ).record(bytes)
            }
            if let bytes = metrics?.responseWireBytes {
                Recorder(
                    label: "http.client.response.body.size", dimensions: dimensions, aggregate: true, factory: factory
                ).record(bytes)
            }
        }
    }
}

extension MetricsFactory {
    fileprivate func timer(_ label: String, _ dimensions: Dimensions) -> Metrics.Timer {
        Metrics.Timer(label: label, dimensions: dimensions, preferredDisplayUnit: .seconds, factory: self)
    }
}

extension Outcome {
    fileprivate func dimensions(withStatus: Bool) -> Dimensions {
        var dimensions: Dimensions = []
        if withStatus, let status { dimensions.append(("http.response.status_code", "\(status.code)")) }
        if let errorType { dimensions.append(("error.type", errorType)) }
        return dimensions
    }
}

extension TransportRequest {
    fileprivate var dimensions: Dimensions {
        [("http.request.method", method.knownName)] + (template.map { [("url.template", $0)] } ?? [])
    }

    fileprivate var serverDimensions: Dimensions {
        ServerNames.shared.admits("\(url.authority)")
            ? [("server.address", url.host), ("server.port", "\(url.effectivePort)")] : [("server.address", "_OTHER")]
    }
}

/// The requests in flight by their dimensions: not each backend counts by itself.
private final class ActiveRequests: Sendable {
    static let shared = ActiveRequests()
    private let counts = Guarded<[String: Int]>([:])

    func change(by change: Int, _ dimensions: Dimensions, _ factory: any MetricsFactory) {
        let key = "\(ObjectIdentifier(factory as AnyObject))\(dimensions)"
        counts.withLock { counts in
            let count = counts[key, default: 0] + change
            counts[key] = count == 0 ? nil : count
            // Within the lock, so that the last one to set it has the last count.
            Meter(label: "http.client.active_requests", dimensions: dimensions, factory: factory).set(count)
        }
    }
}

/// The servers that are named in metrics: the first ones of the process.
private final class ServerNames: Sendable {
    static let shared = ServerNames()
    private static let maximum = 100
    private let names = Guarded<Set<String>>([])

    /// Returns whether a server is named. One that is new gets a name while there is room.
    func admits(_ server: String) -> Bool {
        names.withLock { names in
            guard !names.contains(server) else { return true }
            guard names.count < Self.maximum else { return false }
            names.insert(server)
            return true
        }
    }
}
#endif
