import NetworkCore

/// A reader for durations and connection details.
enum HARMetricsReader {
    static func metrics(of entry: HARNode) throws -> TransportMetrics {
        if let own = try entry.optional("_metrics") { return try self.own(own) }
        var metrics = TransportMetrics(total: try entry.optional("time")?.time() ?? .zero)
        if let timings = try entry.optional("timings") { try read(timings, into: &metrics) }
        metrics.remoteAddress = try entry.optional("serverIPAddress")?.string()
        for part in [try entry.optional("response"), try entry.optional("request")] {
            let version = try part?.optional("httpVersion")?.string()
            metrics.httpVersion = metrics.httpVersion ?? version.flatMap { httpVersion($0) }
        }
        return metrics
    }

    private static func own(_ node: HARNode) throws -> TransportMetrics {
        var metrics = TransportMetrics(total: try node.optional("total")?.time() ?? .zero)
        for (name, path) in HARMetrics.durations { metrics[keyPath: path] = try node.optional(name)?.time() }
        for (name, path) in HARMetrics.texts { metrics[keyPath: path] = try node.optional(name)?.string() }
        for (name, path) in HARMetrics.counts { metrics[keyPath: path] = try node.optional(name)?.size() }
        metrics.connectionReused = try node.optional("connectionReused")?.bool()
        return metrics
    }

    private static func read(_ timings: HARNode, into metrics: inout TransportMetrics) throws {
        metrics.queued = try timings.optional("blocked")?.time()
        metrics.nameLookup = try timings.optional("dns")?.time()
        metrics.tls = try timings.optional("ssl")?.time()
        let connect = try timings.optional("connect")?.time()
        metrics.connect = connect.map { max(.zero, $0 - (metrics.tls ?? .zero)) }
        let rest = [try timings.optional("send")?.time(), try timings.optional("wait")?.time()].compactMap(\.self)
        guard !rest.isEmpty else { return }
        metrics.firstByte = ([metrics.queued, metrics.nameLookup, connect].compactMap(\.self) + rest).reduce(.zero, +)
    }

    /// Returns the version as ``TransportMetrics/httpVersion`` has it, from `HTTP/1.1`, `http/2.0` or `h3`.
    private static func httpVersion(_ text: String) -> String? {
        switch text.lowercasedASCII {
        case "http/1.0": "1.0"
        case "http/1.1": "1.1"
        case "http/2", "http/2.0", "h2": "2"
        case "http/3", "http/3.0", "h3": "3"
        default: nil
        }
    }
}
