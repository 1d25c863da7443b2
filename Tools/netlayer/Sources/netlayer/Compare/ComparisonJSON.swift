import Foundation
import Histogram
import JSONText
import NetworkComparison
import NetworkLayer

/// The result of a comparison as JSON. The article 'How a comparison works' documents its keys.
struct ComparisonJSON {
    let result: ExperimentResult

    init(_ result: ExperimentResult) { self.result = result }

    var value: JSONValue {
        .object([
            .init("arms", .array(result.arms.map { arm($0, $0.figures) })),
            .init("noise", noise(result.urls.map(\.noise))),
            .init("verdicts", .array(result.urls.flatMap(\.verdicts).map(\.json))),
            .init("differences", .array(result.urls.indices.flatMap(differences))),
            .init("growth", .array(result.growths.map(\.json))),
            .init("processes", .array((result.arms + [result.copy]).map(process))),
            .init("changes", .array(result.changes.map(\.json))),
            .init("warnings", .array(result.warnings.map { .string($0) })),
            .init("urls", .array(result.urls.indices.map(url))), .init("design", design),
            .init("environment", .object(result.environment.map { .init($0.name, .string($0.value)) })),
            .init("command", .string(result.command)),
        ])
    }

    private var design: JSONValue {
        .object([
            .init("concurrency", .integer(result.design.concurrency)),
            .init("rate", result.design.rate.map { .exact($0) } ?? .null),
            .init("warmUp", .integer(result.design.warmUp)),
            .init("blockSize", .integer(result.design.blockSize)), .init("rounds", .integer(result.design.rounds)),
            .init("processes", .integer(result.design.processes)),
            .init("seed", .number("\(result.design.seed)")),
        ])
    }

    private func url(_ index: Int) -> JSONValue {
        let url = result.urls[index]
        let noisy = url.contents.flatMap(\.noise).map { place, share in
            JSONValue.object([.init("where", .string(place)), .init("noiseShare", .exact(share))])
        }
        let arms = (result.arms + [result.copy]).map { arm in
            var members: [JSONValue.Member] = [.init("name", .string(arm.name))]
            members.append(.init("blocks", .array(arm.figures[index].blocks.map(\.json))))
            members.append(.init("summary", self.arm(arm, [arm.figures[index]])))
            members.append(.init("wire", arm.figures[index].wire?.json ?? .null))
            return JSONValue.object(members)
        }
        return .object([
            .init("url", .string(url.url)), .init("request", .text(url.request)), .init("arms", .array(arms)),
            .init("noise", noise([url.noise])),
            .init("setAside", .array(noisy)), .init("unlisted", unlisted(url.contents)),
        ])
    }

    /// Returns the number of differences that are not listed.
    private func unlisted(_ contents: [ContentComparison]) -> JSONValue {
        .object([
            .init("known", .integer(contents.reduce(0) { $0 + $1.unlisted.known })),
            .init("new", .integer(contents.reduce(0) { $0 + $1.unlisted.new })),
        ])
    }

    private func process(_ arm: Arm) -> JSONValue {
        .object([.init("name", .string(arm.name)), .init("rounds", .array(arm.states.map(\.json)))])
    }

    private func arm(_ arm: Arm, _ figures: [ArmFigures]) -> JSONValue {
        let summary = ArmSummary(figures)
        func figure(_ metric: Metric) -> JSONValue { summary.values[metric].map { .exact($0) } ?? .null }
        let phases = summary.phases.map { phases in
            JSONValue.object([
                .init("queueMs", .exact(phases.queue)), .init("nameLookupMs", .exact(phases.lookUp)),
                .init("connectMs", .exact(phases.connect)), .init("tlsMs", .exact(phases.tls)),
                .init("firstByteMs", .exact(phases.firstByte)), .init("bodyMs", .exact(phases.body)),
            ])
        }
        return .object([
            .init("name", .string(arm.name)), .init("arm", .string(arm.specification.text)),
            .init("transport", .string(arm.specification.kind.rawValue)),
            .init("library", .string(arm.library)), .init("requests", .integer(summary.requests)),
            .init("statuses", counts(summary.statuses.map { ("\($0.key)", $0.value) })),
            .init("errors", counts(summary.errors.map { ($0.key, $0.value) })),
            .init("warmUpErrors", counts(ArmSummary.warmUpErrors(figures).map { ($0.key, $0.value) })),
            .init("p50Ms", figure(.p50)), .init("p95Ms", figure(.p95)), .init("p99Ms", figure(.p99)),
            .init("ratePerSecond", figure(.rate)), .init("cpuMicrosecondsPerRequest", figure(.cpu)),
            .init("peakResidentKB", .known(summary.peakResidentKB)), .init("threads", .known(summary.threads)),
            .init("descriptors", .known(summary.descriptors)),
            .init("connections", summary.knowsConnections ? .integer(summary.connections) : .null),
            .init("contextSwitches", .integer(figures.reduce(0) { $0 + $1.contextSwitches })),
            .init(
                "wireBytes",
                result.design.isOfProgram ? .null : .integer(figures.reduce(0) { $0 + $1.wireBytes })),
            .init("coldMs", figures[0].coldMilliseconds.map { .exact($0) } ?? .null),
            .init("coldsMs", .array(figures[0].colds.map { .exact($0) })),
            .init("warmUpMs", .array(figures.flatMap(\.warmUp).map { .exact($0) })),
            .init("phases", phases ?? .null), .init("ended", .text(summary.ended)),
            .init("notCompared", .integer(summary.notCompared)),
            .init("partsNotCompared", .integer(figures.reduce(0) { $0 + $1.contents.partsNotCompared })),
            .init("histogram", Self.histogram(summary.latencies)),
        ])
    }

    private func differences(_ index: Int) -> [JSONValue] {
        zip(result.arms.dropFirst(), result.urls[index].contents).flatMap { arm, contents in
            contents.differences.map { difference in
                .object([
                    .init("url", .string(result.urls[index].url)),
                    .init("arms", .array([.string(result.arms[0].name), .string(arm.name)])),
                    .init("where", .string(difference.place)),
                    .init("status", difference.status.map { .integer($0) } ?? .null),
                    .init("share", .exact(difference.share)), .init("noiseShare", .exact(difference.noiseShare)),
                    .init("known", .text(difference.known?.name)), .init("why", .text(difference.known?.reason)),
                    .init("since", .text(difference.known?.since)),
                    .init(
                        "example",
                        .object([
                            .init("left", .string(difference.example.left)),
                            .init("right", .string(difference.example.right)),
                        ])),
                ])
            }
        }
    }

    /// Returns the largest noise of each metric, as a share.
    private func noise(_ all: [[Metric: Double]]) -> JSONValue {
        .object(
            Metric.allCases.map { metric in
                .init(metric.rawValue, all.compactMap { $0[metric] }.max().map { .exact($0 - 1) } ?? .null)
            })
    }

    private func counts(_ values: [(String, Int)]) -> JSONValue {
        .object(values.sorted { $0.0 < $1.0 }.map { .init($0.0, .integer($0.1)) })
    }

    /// Returns the histogram of latencies: for each value that occurs, in microseconds and within 0.1 %, how often.
    static func histogram(_ latencies: [Double]) -> JSONValue {
        let histogram = Histogram<UInt64>.of(latencies)
        return .array(
            histogram.recordedValues().map { .array([.integer(Int($0.value)), .integer(Int($0.count))]) })
    }
}

extension Histogram where Count == UInt64 {
    /// Returns a histogram of latencies in milliseconds, in microseconds with three digits that count.
    static func of(_ latencies: [Double]) -> Histogram<UInt64> {
        // Requests longer than a day are in the last bucket.
        let longest: UInt64 = 86_400_000_000
        var histogram = Histogram(
            lowestDiscernibleValue: 1, highestTrackableValue: longest, numberOfSignificantValueDigits: .three)
        for latency in latencies {
            histogram.record(UInt64(Swift.min(Double(longest), Swift.max(0, latency * 1000)).rounded()))
        }
        return histogram
    }
}

extension Verdict {
    fileprivate var json: JSONValue {
        .object([
            .init("url", .string(url)), .init("metric", .string(metric.rawValue)),
            .init("arms", .array([.string(arms.left), .string(arms.right)])),
            .init("ratio", ratio.map { .exact($0) } ?? .null), .init("low", interval.map { .exact($0.low) } ?? .null),
            .init("high", interval.map { .exact($0.high) } ?? .null), .init("decided", .bool(isDecided)),
            .init("text", .string(text)),
        ])
    }
}

extension Growth {
    fileprivate var json: JSONValue {
        .object([
            .init("resource", .string(resource.rawValue)),
            .init("arms", .array([.string(arms.first), .string(arms.other)])),
            .init("perRequest", .exact(perRequest)), .init("low", .exact(low)), .init("high", .exact(high)),
            .init("noise", noise.map { .exact($0) } ?? .null), .init("decided", .bool(isDecided)),
            .init("text", .string(text)),
        ])
    }
}

extension Growth.State {
    fileprivate var json: JSONValue {
        .object([
            .init("process", .integer(process)), .init("requests", .integer(requests)),
            .init("memoryBytes", .known(memory)), .init("descriptors", .known(descriptors)),
        ])
    }
}

extension Block {
    fileprivate var json: JSONValue {
        .object([
            .init("latenciesMs", .array(latencies.map { .exact($0) })), .init("seconds", .exact(seconds)),
            .init("cpuMicroseconds", .exact(cpuMicroseconds)), .init("requests", .integer(requests)),
            .init("process", .integer(process)), .init("coldsMs", .array(colds.map { .exact($0) })),
            .init("connections", connections.map { .integer($0) } ?? .null),
            .init("attempts", attempts.map { .integer($0) } ?? .null),
        ])
    }
}

extension JSONValue {
    /// Returns a number, or `null` for 0: what each process has some of, and was not measured.
    fileprivate static func known(_ amount: Int) -> JSONValue { amount > 0 ? .integer(amount) : .null }

    /// Returns a number with six digits that count, or `null` if the value is not finite.
    static func exact(_ value: Double) -> JSONValue {
        guard value.isFinite, value != 0 else { return value == 0 ? .integer(0) : .null }
        let scale = pow(10, 5 - log10(abs(value)).rounded(.down))
        return .number("\((value * scale).rounded() / scale)")
    }
}
