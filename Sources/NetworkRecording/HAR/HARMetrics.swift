import NetworkCore

/// Durations and connection details in a HAR document.
enum HARMetrics {
    /// Returns a duration in milliseconds, to the microsecond.
    static func milliseconds(_ time: Duration) -> JSONValue { .decimal(number(time)) }

    private static func number(_ time: Duration) -> Double { time / .milliseconds(1) }

    /// Returns HAR's own durations: `-1` for an unknown one, and 0 for those three that must not be negative there. The
    /// time to send a request is not known, and part of `wait`; `connect` includes `ssl`.
    static func timings(of metrics: TransportMetrics) -> JSONValue {
        // As numbers, since the sum of two durations may overflow.
        let (queued, lookUp) = (metrics.queued.map(number), metrics.nameLookup.map(number))
        let (tls, firstByte) = (metrics.tls.map(number), metrics.firstByte.map(number))
        let connect = metrics.connect.map { number($0) + (tls ?? 0) }
        let before = [queued, lookUp, connect].compactMap(\.self).reduce(0, +)
        let times: [(String, Double?)] = [
            ("blocked", queued), ("dns", lookUp), ("connect", connect), ("ssl", tls), ("send", 0),
            ("wait", firstByte.map { max(0, $0 - before) } ?? 0),
            ("receive", firstByte.map { max(0, number(metrics.total) - $0) } ?? 0),
        ]
        return .object(times.map { .init($0, $1.map(JSONValue.decimal) ?? .integer(-1)) })
    }

    /// Returns all that is known, under the names of ``TransportMetrics``.
    static func own(_ metrics: TransportMetrics) -> JSONValue {
        let values: [(String, JSONValue?)] =
            durations.map { name, path in (name, metrics[keyPath: path].map(milliseconds)) }
            + texts.map { name, path in (name, metrics[keyPath: path].map { .string($0) }) }
            + counts.map { name, path in (name, metrics[keyPath: path].map { .integer($0) }) }
            + [("connectionReused", metrics.connectionReused.map { .bool($0) })]
        let known = values.compactMap { name, value in value.map { JSONValue.Member(name, $0) } }
        return .object([.init("total", milliseconds(metrics.total))] + known)
    }

    static var durations: [(String, WritableKeyPath<TransportMetrics, Duration?>)] {
        [
            ("queued", \.queued), ("nameLookup", \.nameLookup), ("connect", \.connect), ("tls", \.tls),
            ("firstByte", \.firstByte),
        ]
    }

    static var texts: [(String, WritableKeyPath<TransportMetrics, String?>)] {
        [
            ("httpVersion", \.httpVersion), ("tlsVersion", \.tlsVersion), ("tlsCipher", \.tlsCipher),
            ("remoteAddress", \.remoteAddress), ("localAddress", \.localAddress),
        ]
    }

    static var counts: [(String, WritableKeyPath<TransportMetrics, Int?>)] {
        [
            ("resends", \.resends), ("repeats", \.repeats), ("requestBodyBytes", \.requestBodyBytes),
            ("responseWireBytes", \.responseWireBytes), ("responseBodyBytes", \.responseBodyBytes),
        ]
    }

    /// Returns the address without its port and brackets.
    static func host(of address: String?) -> String? {
        guard let address, let colon = address.utf8.lastIndex(of: UInt8(ascii: ":")) else { return address }
        let host = address[..<colon]
        guard host.utf8.first == UInt8(ascii: "[") else {
            // An IPv6 address without a port.
            return host.utf8.contains(UInt8(ascii: ":")) ? address : String(host)
        }
        return String(host.dropFirst().dropLast())
    }
}
