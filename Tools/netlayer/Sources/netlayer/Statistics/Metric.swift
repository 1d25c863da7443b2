/// A figure that two arms are compared by.
enum Metric: String, CaseIterable, Codable, CodingKeyRepresentable, Sendable {
    /// Percentiles of the time from a request's start (or its intended start) to the end of the body.
    case p50, p95, p99
    /// The successful requests a second.
    case rate
    /// The CPU time of the arm's process for each request, user and system.
    case cpu
    /// The time of a process's first request for a URL. An earlier URL of the same origin may have left a connection.
    case cold
    /// The new connections, and the attempts, for each request. Attempts include what the transport repeats by itself.
    case connections, attempts

    static let percentiles: [(metric: Metric, percent: Int)] = [(.p50, 50), (.p95, 95), (.p99, 99)]

    /// The fewest requests of an arm for an interval: with fewer, a percentile is one of the largest times, and the
    /// interval too narrow.
    var minimumRequests: Int { self == .p99 ? 1_000 : self == .p95 ? 20 : 1 }

    var title: String { self == .rate ? "req/s" : self == .cpu ? "CPU/req" : rawValue }

    var name: String {
        switch self {
        case .p50: "median"
        case .p95: "95th percentile"
        case .p99: "99th percentile"
        case .cpu: "CPU"
        case .cold: "first request of a process"
        case .rate, .connections, .attempts: rawValue
        }
    }

    /// Whether an arm may not have it: it has no verdict then.
    var mayBeUnknown: Bool { self == .cold || isCount }

    /// Whether it counts what happens for a request: it may be 0 over one arm.
    var isCount: Bool { self == .connections || self == .attempts }
}
