import NetworkCore

/// The durations and connection details that this library knows, under the names of ``TransportMetrics``.
struct HARMetrics: Codable {
    var total, queued, nameLookup, connect, tls, firstByte: Double?
    var httpVersion, tlsVersion, tlsCipher, remoteAddress, localAddress: String?
    var resends, repeats, requestBodyBytes, responseWireBytes, responseBodyBytes: Double?
    var connectionReused: Bool?
}

// MARK: Writing

extension HARMetrics {
    init(_ metrics: TransportMetrics) {
        total = Self.milliseconds(metrics.total)
        for (path, own) in Self.durations { self[keyPath: path] = metrics[keyPath: own].map(Self.milliseconds) }
        for (path, own) in Self.texts { self[keyPath: path] = metrics[keyPath: own] }
        for (path, own) in Self.counts { self[keyPath: path] = metrics[keyPath: own].map { Double($0) } }
        connectionReused = metrics.connectionReused
    }

    /// Returns a duration in milliseconds, to the microsecond.
    static func milliseconds(_ time: Duration) -> Double { rounded(time / .milliseconds(1)) }

    private static func rounded(_ number: Double) -> Double { (number * 1000).rounded() / 1000 }

    /// Returns HAR's own durations: `-1` for an unknown one, and 0 for those three that must not be negative there. The
    /// time to send a request is not known, and part of `wait`; `connect` includes `ssl`.
    static func timings(of metrics: TransportMetrics) -> HAREntry.Timings {
        // As numbers, since the sum of two durations may overflow.
        let (queued, lookUp) = (metrics.queued.map(milliseconds), metrics.nameLookup.map(milliseconds))
        let (tls, firstByte) = (metrics.tls.map(milliseconds), metrics.firstByte.map(milliseconds))
        let connect = metrics.connect.map { rounded(milliseconds($0) + (tls ?? 0)) }
        let before = [queued, lookUp, connect].compactMap(\.self).reduce(0, +)
        return HAREntry.Timings(
            blocked: queued ?? -1, dns: lookUp ?? -1, connect: connect ?? -1, ssl: tls ?? -1, send: 0,
            wait: firstByte.map { max(0, rounded($0 - before)) } ?? 0,
            receive: firstByte.map { max(0, rounded(milliseconds(metrics.total) - $0)) } ?? 0)
    }

    /// Returns an address without its port and brackets.
    static func host(of address: String?) -> String? {
        guard let address, let colon = address.utf8.lastIndex(of: UInt8(ascii: ":")) else { return address }
        let host = address[..<colon]
        guard host.utf8.first == UInt8(ascii: "[") else {
            // An IPv6 address without a port.
            return host.utf8.contains(UInt8(ascii: ":")) ? address : String(host)
        }
        return String(host.dropFirst().dropLast())
    }

    // Key paths are no Sendable values, so these are not stored.
    private static var durations: [(WritableKeyPath<Self, Double?>, WritableKeyPath<TransportMetrics, Duration?>)] {
        [
            (\.queued, \.queued), (\.nameLookup, \.nameLookup), (\.connect, \.connect), (\.tls, \.tls),
            (\.firstByte, \.firstByte),
        ]
    }

    private static var texts: [(WritableKeyPath<Self, String?>, WritableKeyPath<TransportMetrics, String?>)] {
        [
            (\.httpVersion, \.httpVersion), (\.tlsVersion, \.tlsVersion), (\.tlsCipher, \.tlsCipher),
            (\.remoteAddress, \.remoteAddress), (\.localAddress, \.localAddress),
        ]
    }

    private static var counts: [(WritableKeyPath<Self, Double?>, WritableKeyPath<TransportMetrics, Int?>)] {
        [
            (\.resends, \.resends), (\.repeats, \.repeats), (\.requestBodyBytes, \.requestBodyBytes),
            (\.responseWireBytes, \.responseWireBytes), (\.responseBodyBytes, \.responseBodyBytes),
        ]
    }
}

// MARK: Reading

extension HARMetrics {
    func metrics() throws -> TransportMetrics {
        var metrics = TransportMetrics(total: try HARFault.time(total, "_metrics.total") ?? .zero)
        for (path, own) in Self.durations {
            metrics[keyPath: own] = try HARFault.time(self[keyPath: path], "_metrics")
        }
        for (path, own) in Self.texts { metrics[keyPath: own] = self[keyPath: path] }
        for (path, own) in Self.counts { metrics[keyPath: own] = try HARFault.size(self[keyPath: path], "_metrics") }
        metrics.connectionReused = connectionReused
        return metrics
    }
}

extension HAREntry {
    /// Returns this library's metrics, or what HAR's own members tell.
    func recordedMetrics() throws -> TransportMetrics {
        if let metrics { return try metrics.metrics() }
        var read = TransportMetrics(total: try HARFault.time(time, "time") ?? .zero)
        read.remoteAddress = serverIPAddress
        read.httpVersion = [response?.httpVersion, request.httpVersion].compactMap { Self.version($0) }.first
        guard let timings else { return read }
        func duration(_ value: Double?) throws -> Duration? { try HARFault.time(value, "timings") }
        (read.queued, read.nameLookup) = (try duration(timings.blocked), try duration(timings.dns))
        read.tls = try duration(timings.ssl)
        let connect = try duration(timings.connect)
        read.connect = connect.map { max(.zero, $0 - (read.tls ?? .zero)) }
        let rest = [try duration(timings.send), try duration(timings.wait)].compactMap(\.self)
        guard !rest.isEmpty else { return read }
        read.firstByte = ([read.queued, read.nameLookup, connect].compactMap(\.self) + rest).reduce(.zero, +)
        return read
    }

    /// Returns the version as ``TransportMetrics/httpVersion`` has it, from `HTTP/1.1`, `http/2.0` or `h3`.
    private static func version(_ text: String?) -> String? {
        switch text?.lowercasedASCII {
        case "http/1.0": "1.0"
        case "http/1.1": "1.1"
        case "http/2", "http/2.0", "h2": "2"
        case "http/3", "http/3.0", "h3": "3"
        default: nil
        }
    }
}
