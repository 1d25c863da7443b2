#if Tracing
import HTTPTypes
import NetworkCore
import Tracing

extension TransportRequest {
    /// The method, and the template of the path if there is one: a name must not grow with values.
    var spanName: String {
        let name = method.knownName == method.rawValue ? method.rawValue : "HTTP"
        return template.map { "\(name) \($0)" } ?? name
    }
}

extension SpanAttributes {
    /// Creates the attributes that are known before the request goes out
    /// ([HTTP client span](https://opentelemetry.io/docs/specs/semconv/http/http-spans/#http-client-span)).
    init(of request: TransportRequest) {
        self = [
            "http.request.method": "\(request.method.knownName)", "url.full": "\(request.url)",
            "server.address": "\(request.url.host)", "server.port": .int64(Int64(request.url.effectivePort)),
        ]
        if request.method.knownName != request.method.rawValue {
            self["http.request.method_original"] = request.method.rawValue
        }
        self["url.template"] = request.template
    }

    /// Adds what is known at the end of an exchange.
    mutating func add(_ metrics: TransportMetrics) {
        self["network.protocol.version"] = metrics.httpVersion
        self["http.request.body.size"] = metrics.requestBodyBytes
        self["http.response.body.size"] = metrics.responseWireBytes
        self["networklayer.connection.reused"] = metrics.connectionReused
        if let resends = metrics.resends, resends > 0 { self["networklayer.resends"] = resends }
        // `127.0.0.1:80`, `[::1]:80`
        guard let address = metrics.remoteAddress, let colon = address.lastIndex(of: ":") else { return }
        self["network.peer.address"] = String(address[..<colon].filter { $0 != "[" && $0 != "]" })
        self["network.peer.port"] = Int(address[address.index(after: colon)...])
    }
}

extension TransportMetrics {
    /// Returns the phases of the exchange as events, each at its end.
    func phases(from start: DefaultTracerClock.Timestamp) -> [SpanEvent] {
        var (ends, elapsed): ([(String, Duration)], Duration) = ([], .zero)
        for case (let name, let time?) in [("queue", queued), ("name", nameLookup), ("tcp", connect), ("tls", tls)] {
            elapsed += time
            ends.append((name, elapsed))
        }
        if let requestSent { ends.append(("request sent", requestSent)) }
        if let firstByte { ends.append(("first byte", firstByte)) }
        return ends.map { name, time in
            let nanoseconds = UInt64(max(0, min(time, .seconds(1 << 32)) / .nanoseconds(1)))
            let end = start.nanosecondsSinceEpoch &+ nanoseconds
            return SpanEvent(name: name, at: DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: end))
        }
    }
}
#endif
