import Configuration
import CurlTransport
import Foundation
import Hummingbird
import Instrumentation
import Logging
import Metrics
import NetworkConfiguration
import NetworkCore
import NetworkTelemetry
import Observability
import ServiceLifecycle
import Tracing

/// The service in front. Its settings are in the file that SHOP_CONFIG names, and variables of the environment come
/// first: CATALOG_BASE_URL for `catalog.baseURL`.
@main
struct Shop {
    static func main() async {
        do { try await run() } catch {
            FileHandle.standardError.write(Data("shop: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run() async throws {
        let metrics = PrometheusMetrics(durationBuckets: NetworkClient.durationBuckets)
        MetricsSystem.bootstrap(metrics)
        let spans = SpanStore()
        InstrumentationSystem.bootstrap(spans)
        var logger = Logger(label: "shop")
        logger.logLevel = Environment().get("LOG_LEVEL").flatMap { Logger.Level(rawValue: $0) } ?? .info

        let file = Environment().get("SHOP_CONFIG") ?? "shop.json"
        let settingsOfFile: Configuration.FileProvider<JSONSnapshot>
        do { settingsOfFile = try await Configuration.FileProvider<JSONSnapshot>(filePath: .init(file)) } catch {
            throw NetworkError(.invalidConfiguration, "\(file) can't be read: \(error)")
        }
        let config = ConfigReader(
            providers: [EnvironmentVariablesProvider(), settingsOfFile], accessReporter: SettingSources())
        let (host, port) = (try config.requiredString(forKey: "shop.host"), try config.requiredInt(forKey: "shop.port"))
        let seconds = try config.requiredDouble(forKey: "shop.drainSeconds")
        guard (1...65_535).contains(port), (0...3_600).contains(seconds) else {
            throw NetworkError(
                .invalidConfiguration, "shop.port is \(port), shop.drainSeconds is \(seconds): out of range")
        }
        logger.info("settings of shop: shop.host = \(host), shop.port = \(port), shop.drainSeconds = \(seconds)")
        let settings = try await NetworkSettings(config, under: "transport")
        // One transport for all clients: one thread, one pool of connections.
        let transport = CurlNetworkDispatcher(configuration: settings.curl)
        let catalog = try await Peer("catalog", config, over: transport, logger: logger)
        let prices = try await Peer("prices", config, over: transport, logger: logger)
        let stock = try await Peer("stock", config, over: transport, logger: logger)

        let drain = Drain(time: .seconds(seconds), logger: logger)
        let router = Router(context: ShopContext.self)
        router.get("metrics") { _, _ in
            Response(plain: metrics.exposition(), type: PrometheusMetrics.contentType)
        }
        router.get("traces") { _, _ in Response(plain: spans.page(), type: "text/html; charset=utf-8") }
        router.get("traces/:id") { _, context in
            guard let trace = spans.json(trace: try context.parameters.require("id")) else {
                throw HTTPError(.notFound, message: "this trace is not kept")
            }
            return Response(plain: trace, type: "application/json")
        }
        router.get("health") { _, _ in health(of: [catalog, prices, stock], isEnding: drain.hasBegun) }

        // What users ask for is traced, measured and logged; what Prometheus asks for is not.
        let users = router.group()
            .add(middleware: TracingMiddleware())
            .add(middleware: MetricsMiddleware())
            .add(middleware: Outcomes())
        let products = Products(catalog: catalog.client, prices: prices.client, stock: stock.client)
        users.get("products/:id") { _, context in
            let id = try context.parameters.require("id")
            return try await context.whileConnected { try await products.product(id) }
        }
        let proxy = Proxy(catalog.client, to: catalog.baseURL, as: "shop")
        for method in [HTTPRequest.Method.get, .head, .post, .put, .delete] {
            users.on("catalog/**", method: method) { request, context in
                let path = request.head.path ?? "/"
                return try await proxy.pass(
                    request, context, to: String(path.dropFirst("/catalog".count)), template: "/catalog/{path}")
            }
        }

        let server = Application(
            router: router,
            server: .http1(
                configuration: .init(additionalChannelHandlers: [ClientWatch()], idleTimeout: .seconds(60))),
            configuration: .init(
                address: .hostname(host, port: port), serverName: "shop"),
            logger: logger)
        // They end in reverse order: first no more requests come, then the server answers those that it has, and then
        // the connections to the peers close.
        let reports = StateMetrics(
            of: transport, catalog.client, prices.client, stock.client, every: .seconds(1))
        let group = ServiceGroup(
            services: [transport, reports, server, drain],
            gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        try await group.run()
        logger.notice("everything that was accepted is answered")
    }

    private static func health(of peers: [Peer], isEnding: Bool) -> Response {
        let lines = peers.flatMap(\.states)
        // 503 tells a balancer to send no more requests here. An open breaker is no reason: the other routes work.
        return Response(
            plain: ([isEnding ? "ending" : "ok"] + lines).joined(separator: "\n") + "\n", type: "text/plain",
            status: isEnding ? .serviceUnavailable : .ok)
    }
}

/// The time between SIGTERM and the end of the server, in which it still serves and `/health` says that it ends: those
/// who send requests learn it before connections are refused.
private struct Drain: Service {
    let time: Duration
    let logger: Logger
    private let begun = Flag()
    var hasBegun: Bool { begun.isUp }

    init(time: Duration, logger: Logger) { (self.time, self.logger) = (time, logger) }

    func run() async throws {
        try await gracefulShutdown()
        begun.raise()
        logger.notice("the shop ends; it still serves for \(time)")
        try await Task.sleep(for: time)
    }
}

extension Response {
    fileprivate init(plain text: String, type: String, status: HTTPResponse.Status = .ok) {
        self.init(status: status, headers: [.contentType: type], body: .init(byteBuffer: ByteBuffer(string: text)))
    }
}
