import Foundation
import Hummingbird
import Logging
import NIOCore
import NetworkTelemetry
import ServiceLifecycle
import Synchronization

/// One of the services behind the shop, which can be told to fail:
///
///     Upstream catalog|prices|stock PORT [HOST]
///     curl -d '{"kind": "slow", "milliseconds": 800}' http://127.0.0.1:8082/fault
@main
struct Upstream {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard (3...4).contains(arguments.count), let kind = Kind(rawValue: arguments[1]), let port = Int(arguments[2])
        else {
            FileHandle.standardError.write(Data("usage: Upstream catalog|prices|stock PORT [HOST]\n".utf8))
            exit(2)
        }
        let logger = Logger(label: kind.rawValue)
        let switches = Switches()
        let router = Router(context: UpstreamContext.self)
        router.get("health") { _, _ in "ok\n" }
        router.post("fault") { request, context in
            let fault = try await request.decode(as: Fault.self, context: context)
            guard (0...1).contains(fault.share ?? 1), (0...3_600_000).contains(fault.milliseconds ?? 0) else {
                throw HTTPError(.badRequest, message: "share is from 0 to 1, milliseconds from 0 to an hour")
            }
            switches.set(fault)
            logger.notice(
                "a new fault",
                metadata: [
                    "fault": "\(fault.kind.rawValue)", "share": "\(fault.share ?? 1)",
                    "milliseconds": "\(fault.milliseconds ?? 500)",
                ])
            // A service that is down has no time to say so.
            if fault.kind == .down { exit(1) }
            return "\(fault.kind.rawValue)\n"
        }
        let items = router.group().add(middleware: Faults(switches: switches))
        items.get("items/:id") { _, context in
            try kind.answer(for: try context.parameters.require("id"), context)
        }
        items.post("echo") { request, _ in echo(request) }
        try await Application(
            router: router,
            configuration: .init(
                address: .hostname(arguments.count == 4 ? arguments[3] : "127.0.0.1", port: port),
                serverName: kind.rawValue),
            logger: logger
        ).runService()
    }

    /// Sends a body back while it comes, and names the header fields that it came with.
    private static func echo(_ request: Request) -> Response {
        var fields: HTTPFields = [:]
        fields[.contentType] = request.headers[.contentType]
        fields[.contentLength] = request.headers[.contentLength]
        fields[values: .init("X-Received")!] = request.headers.map { "\($0.name.rawName): \($0.value)" }
        fields[.connection] = "X-Of-This-Hop"
        fields[.init("X-Of-This-Hop")!] = "is not passed on"
        return Response(status: .ok, headers: fields, body: .init(asyncSequence: request.body))
    }
}

/// What a service knows about an item.
private enum Kind: String {
    case catalog, prices, stock

    struct Item: ResponseEncodable { let id, name: String }
    struct Price: ResponseEncodable { let cents: Int, currency: String }
    struct Stock: ResponseEncodable { let left: Int }

    func answer(for id: String, _ context: UpstreamContext) throws -> Response {
        guard let number = Int(id), number > 0 else { throw HTTPError(.notFound, message: "no item has this number") }
        var request = HTTPRequest(method: .get, scheme: nil, authority: nil, path: nil)
        request.headerFields = [:]
        let plain = Request(head: request, body: .init(buffer: ByteBuffer()))
        switch self {
        case .catalog: return try Item(id: id, name: "Lamp \(number)").response(from: plain, context: context)
        case .prices: return try Price(cents: 999 + number, currency: "EUR").response(from: plain, context: context)
        case .stock: return try Stock(left: number % 7).response(from: plain, context: context)
        }
    }
}

/// What goes wrong, for a share of the requests.
private struct Fault: Decodable, Sendable {
    enum Kind: String, Decodable {
        /// Nothing.
        case none
        /// The response takes `milliseconds` longer.
        case slow
        /// The response is 503.
        case fail
        /// The connection is reset in place of an answer.
        case reset
        /// There is no answer.
        case hang
        /// The process ends.
        case down
    }

    let kind: Kind
    var share: Double?
    var milliseconds: Int?
}

/// The fault that applies now.
private final class Switches: Sendable {
    private let fault = Mutex(Fault(kind: .none))

    func set(_ new: Fault) { fault.withLock { $0 = new } }

    /// The fault of one request.
    func draw() -> Fault {
        let fault = fault.withLock(\.self)
        return Double.random(in: 0..<1) < fault.share ?? 1 ? fault : Fault(kind: .none)
    }
}

private struct UpstreamContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        (coreContext, channel) = (.init(source: source), source.channel)
    }
}

/// Applies the fault, and logs each request with the trace that it belongs to.
private struct Faults: RouterMiddleware {
    let switches: Switches

    func handle(
        _ request: Request, context: UpstreamContext, next: (Request, UpstreamContext) async throws -> Response
    ) async throws -> Response {
        let fault = switches.draw()
        let trace = request.headers[.init("traceparent")!].flatMap { TraceContext(traceparent: $0) }
        context.logger.info(
            "\(request.method.rawValue) \(request.uri.path)",
            metadata: ["trace.id": "\(trace?.traceID ?? "none")", "fault": "\(fault.kind.rawValue)"])
        switch fault.kind {
        case .none, .down: break
        case .slow: try await Task.sleep(for: .milliseconds(fault.milliseconds ?? 500))
        case .fail: return Response(status: .serviceUnavailable)
        case .hang: try await cancelWhenGracefulShutdown { try await Task.sleep(for: .seconds(3_600)) }
        case .reset:
            // Closed with nothing to wait for, a connection ends with RST instead of FIN.
            try await (context.channel as? any SocketOptionProvider)?
                .setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
            try await context.channel.close()
        }
        return try await next(request, context)
    }
}
