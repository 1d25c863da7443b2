/// A figure that two arms are compared by.
enum Metric: String, CaseIterable, Sendable {
    /// The median time of a request, from its start (or its intended start) to the end of the body.
    case p50
    /// The 95th percentile of that time.
    case p95
    /// The 99th percentile of that time.
    case p99
    /// The successful requests a second.
    case rate
    /// The CPU time of the arm's process for each request, user and system.
    case cpu
    /// The time of a process's first request for a URL. An earlier URL of the same origin may have left a connection.
    case cold
    /// The new connections for each request.
    case connections
    /// The attempts for each request: the first one, retries, and what the transport sent again by itself.
    case attempts

    /// The percentile, for a metric that is one.
    var percent: Int? {
        switch self {
        case .p50: 50
        case .p95: 95
        case .p99: 99
        case .rate, .cpu, .cold, .connections, .attempts: nil
        }
    }

    /// The fewest requests of an arm for an interval: with fewer, a percentile is one of the largest times, and the
    /// interval too narrow.
    var minimumRequests: Int {
        switch self {
        case .p95: 20
        case .p99: 1_000
        case .p50, .rate, .cpu, .cold, .connections, .attempts: 1
        }
    }

    /// The metric's name at the head of a column.
    var title: String {
        switch self {
        case .p50, .p95, .p99, .cold, .connections, .attempts: rawValue
        case .rate: "req/s"
        case .cpu: "CPU/req"
        }
    }

    /// Whether an arm may not have it: it has no verdict then.
    var mayBeUnknown: Bool { self == .cold || isCount }

    /// Whether it counts what happens for a request: it may be 0 over one arm.
    var isCount: Bool { self == .connections || self == .attempts }
}
