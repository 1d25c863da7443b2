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
    /// failures `error.type`: the error's code, or a status of 400 or more. Those of calls: the method, the template,
    /// the server of the request and `error.type`, also of calls that a step refused. A URL is never one. Of the
    /// servers, 100 have a name and a port, the first ones of the process; the others together are `_OTHER`, as are
    /// methods that no standard knows.
    ///
    /// The buckets of a histogram are the backend's: ``durationBuckets`` has the convention's.
    /// - Parameter factory: What makes the metrics. Default: that of the process (`MetricsSystem.factory`), which does
    ///   nothing in a program without one.
    public func measured(by factory: (any MetricsFactory)? = nil) -> NetworkClient {
        with {
            $0.interceptors.removeAll { $0 is CallMetrics }
            $0.exchangeInterceptors.removeAll { $0 is ExchangeMetrics }
            $0.interceptors.insert(CallMetrics(factory: factory.map(Factory.init)), at: 0)
            $0.exchangeInterceptors.append(ExchangeMetrics(factory: factory.map(Factory.init)))
        }
    }

    /// The bounds of the buckets for durations, in seconds, by OpenTelemetry's conventions.
    public static let durationBuckets = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
}

private struct CallMetrics: Interceptor {
    /// `nil` for that of the process.
    let factory: Factory?

    func intercept(_ request: TransportRequest, in call: Call, next: Next) async throws -> TransportResponse {
        try await next.watched(request, in: call) { outcome in
            var key = CallKey(
                factory: factory ?? .ofProcess, route: Route(request), server: .admitted(of: request),
                error: outcome.errorType)
            CallKey.durations.value(of: key) {
                key.factory.timer("networklayer.client.call.duration", key.dimensions)
            }.record(duration: call.elapsed)
            guard call.attempts > 1 else { return }
            key.error = nil
            CallKey.retries.value(of: key) {
                Counter(
                    label: "networklayer.client.call.retries", dimensions: key.dimensions,
                    factory: key.factory.factory)
            }.increment(by: call.attempts - 1)
        }
    }
}

private struct ExchangeMetrics: Interceptor {
    /// `nil` for that of the process.
    let factory: Factory?

    func intercept(_ request: TransportRequest, in call: Call, next: Next) async throws -> TransportResponse {
        let start = ContinuousClock.now
        let known = ExchangeKey(factory: factory ?? .ofProcess, request)
        let active = ExchangeKey.active.value(of: known) { ActiveRequests(known) }
        active.change(by: 1)
        return try await next.watched(request, in: call) { outcome in
            active.change(by: -1)
            let metrics = outcome.response?.metrics
            var key = known
            (key.status, key.error, key.version) = (outcome.status?.code, outcome.errorType, metrics?.httpVersion)
            ExchangeKey.durations.value(of: key) {
                key.factory.timer("http.client.request.duration", key.dimensions)
            }.record(duration: start.duration(to: .now))
            if let bytes = metrics?.requestBodyBytes {
                ExchangeKey.requestBodies.value(of: key) {
                    key.factory.recorder("http.client.request.body.size", key.dimensions)
                }.record(bytes)
            }
            if let bytes = metrics?.responseWireBytes {
                ExchangeKey.responseBodies.value(of: key) {
                    key.factory.recorder("http.client.response.body.size", key.dimensions)
                }.record(bytes)
            }
        }
    }
}

private typealias Dimensions = [(String, String)]

/// The metrics of requests that are alike. A backend looks each one up by its label and its dimensions, which takes
/// longer than the rest of a small request, so each is made once.
private final class InstrumentTable<Key: Hashable & Sendable, Instrument: Sendable>: Sendable {
    private static var maximum: Int { 4_096 }
    private let made = Guarded<[Key: Instrument]>([:])

    func value(of key: Key, make: () -> Instrument) -> Instrument {
        made.withLock { made in
            if let known = made[key] { return known }
            // They are made again when they are needed.
            if made.count >= Self.maximum { made.removeAll() }
            let new = make()
            made[key] = new
            return new
        }
    }
}

/// What makes metrics, told apart from another one.
private struct Factory: Hashable, Sendable {
    let factory: any MetricsFactory
    private let identity: ObjectIdentifier
    /// Gives an identity to a factory that is a value.
    private let substitute: Identity
    private final class Identity: Sendable {}
    private static let process = Identity()

    init(_ factory: any MetricsFactory) { self.init(factory, Identity()) }

    private init(_ factory: any MetricsFactory, _ substitute: Identity) {
        (self.factory, self.substitute) = (factory, substitute)
        let isObject = type(of: factory) as Any.Type is AnyObject.Type
        identity = ObjectIdentifier(isObject ? factory as AnyObject : substitute)
    }

    /// That of the process, which a program sets once.
    static var ofProcess: Factory { Factory(MetricsSystem.factory, process) }

    static func == (left: Factory, right: Factory) -> Bool { left.identity == right.identity }
    func hash(into hasher: inout Hasher) { hasher.combine(identity) }

    func timer(_ label: String, _ dimensions: Dimensions) -> Metrics.Timer {
        Metrics.Timer(label: label, dimensions: dimensions, preferredDisplayUnit: .seconds, factory: factory)
    }

    func recorder(_ label: String, _ dimensions: Dimensions) -> Recorder {
        Recorder(label: label, dimensions: dimensions, aggregate: true, factory: factory)
    }
}

/// The method and the template of a request.
private struct Route: Hashable, Sendable {
    private let method: String
    private let template: String?

    init(_ request: TransportRequest) { (method, template) = (request.method.knownName, request.template) }

    var dimensions: Dimensions {
        [("http.request.method", method)] + (template.map { [("url.template", $0)] } ?? [])
    }
}

private struct CallKey: Hashable, Sendable {
    static let durations = InstrumentTable<CallKey, Metrics.Timer>()
    static let retries = InstrumentTable<CallKey, Counter>()
    let factory: Factory
    let route: Route
    /// `nil` for a server without a name in metrics.
    let server: Server?
    var error: String?

    var dimensions: Dimensions {
        route.dimensions + Server.dimensions(of: server) + (error.map { [("error.type", $0)] } ?? [])
    }
}

private struct ExchangeKey: Hashable, Sendable {
    static let durations = InstrumentTable<ExchangeKey, Metrics.Timer>()
    static let requestBodies = InstrumentTable<ExchangeKey, Recorder>()
    static let responseBodies = InstrumentTable<ExchangeKey, Recorder>()
    static let active = InstrumentTable<ExchangeKey, ActiveRequests>()
    let factory: Factory
    let route: Route
    /// `nil` for a server without a name in metrics.
    let server: Server?
    var status: Int?
    var error, version: String?

    init(factory: Factory, _ request: TransportRequest) {
        (self.factory, route) = (factory, Route(request))
        server = .admitted(of: request)
    }

    var dimensions: Dimensions {
        var dimensions = route.dimensions + Server.dimensions(of: server)
        if let status { dimensions.append(("http.response.status_code", "\(status)")) }
        if let error { dimensions.append(("error.type", error)) }
        if let version { dimensions.append(("network.protocol.version", version)) }
        return dimensions
    }
}

/// The requests in flight that have the same dimensions: not each backend counts by itself.
private final class ActiveRequests: Sendable {
    private let count = Guarded(0)
    private let meter: Meter

    init(_ key: ExchangeKey) {
        meter = Meter(
            label: "http.client.active_requests", dimensions: key.dimensions, factory: key.factory.factory)
    }

    func change(by change: Int) {
        count.withLock { count in
            count += change
            // Within the lock, so that the last one to set it has the last count.
            meter.set(count)
        }
    }
}

/// A server that is named in metrics.
private struct Server: Hashable, Sendable {
    let host: String
    let port: Int
    private static let maximum = 100
    private static let known = Guarded<Set<Server>>([])

    /// Returns a request's server if it is one of the first of the process; `nil` for others.
    static func admitted(of request: TransportRequest) -> Server? {
        let server = Server(host: request.url.host, port: request.url.effectivePort)
        return known.withLock { known in
            if known.count < maximum { known.insert(server) }
            return known.contains(server) ? server : nil
        }
    }

    static func dimensions(of server: Server?) -> Dimensions {
        guard let server else { return [("server.address", "_OTHER")] }
        return [("server.address", server.host), ("server.port", "\(server.port)")]
    }
}
#endif
