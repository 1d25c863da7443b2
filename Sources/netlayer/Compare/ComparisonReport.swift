import NetworkLayer

/// The observations of one URL, as text and as JSON.
struct ComparisonReport {
    let url: String
    let observations: [Observation]
    let differences: Differences

    init(url: String, observations: [Observation]) {
        self.url = url
        self.observations = observations
        differences = Differences(observations[0], observations[1])
    }

    /// Whether nothing differs and nothing failed.
    var isAlike: Bool { differences.found.isEmpty && observations.allSatisfy { $0.failures == 0 } }

    var lines: [String] {
        var table = Table([
            ("transport", .left), ("status", .left), ("bytes", .right), ("p50", .right), ("p95", .right),
            ("p99", .right), ("req/s", .right), ("errors", .right),
        ])
        for observation in observations {
            let percentile = Percentiles(observation.durations)
            table.add([
                observation.transport, observation.statusText, observation.bytesText,
                percentile(50)?.shortText ?? "-", percentile(95)?.shortText ?? "-", percentile(99)?.shortText ?? "-",
                observation.requestsPerSecond.map { "\(Int($0.rounded()))" } ?? "-", "\(observation.failures)",
            ])
        }
        var lines = [url] + table.lines.map { "  " + $0 }
        for observation in observations {
            for (code, message) in observation.firstErrors.sorted(by: { $0.key < $1.key }) {
                let count = observation.errors[code] ?? 0
                lines.append("  \(observation.transport), \(count) failed: \(message)")
            }
        }
        lines += differences.found.map { "  differs: \($0)" }
        lines += differences.notCompared.map { "  not compared: \($0)" }
        if isAlike { lines.append("  no differences") }
        return lines
    }

    var json: JSONValue {
        .object([
            .init("url", .string(url)),
            .init("transports", .array(observations.map(\.json))),
            .init("differences", .array(differences.found.map { .string($0) })),
            .init("notCompared", .array(differences.notCompared.map { .string($0) })),
            .init("alike", .bool(isAlike)),
        ])
    }
}

extension Observation {
    /// The size of the body, such as `120`, or `118…120` if it changes.
    fileprivate var bytesText: String {
        guard let byteCounts else { return "-" }
        return byteCounts.count == 1 ? "\(byteCounts.lowerBound)" : "\(byteCounts.lowerBound)…\(byteCounts.upperBound)"
    }

    fileprivate var json: JSONValue {
        let percentile = Percentiles(durations)
        func counts(_ values: [(String, Int)]) -> JSONValue {
            .object(values.sorted { $0.0 < $1.0 }.map { .init($0.0, .integer($0.1)) })
        }
        func milliseconds(_ percent: Int) -> JSONValue {
            percentile(percent).map { .decimal($0.inSeconds * 1000) } ?? .null
        }
        return .object([
            .init("transport", .string(transport)),
            .init("responses", .integer(durations.count)),
            .init("statuses", counts(statuses.map { ("\($0.key)", $0.value) })),
            .init("bytes", byteCounts.map { .array([.integer($0.lowerBound), .integer($0.upperBound)]) } ?? .null),
            .init("p50Ms", milliseconds(50)),
            .init("p95Ms", milliseconds(95)),
            .init("p99Ms", milliseconds(99)),
            .init("requestsPerSecond", requestsPerSecond.map { .decimal($0) } ?? .null),
            .init("errors", counts(errors.map { ($0.key, $0.value) })),
        ])
    }
}
