import Foundation

/// All that a comparison found. The writers of reports have nothing else; its JSON, which the article 'How a comparison
/// works' documents, is the baseline of a later comparison.
struct Report: Codable, Sendable {
    /// The arms over all URLs, without the copy of the first one.
    var arms: [Figures]
    var copy: Figures
    var answer: String?
    /// What to know before the verdicts are read, in sentences.
    var notes: [String]
    /// The largest noise floor of each metric, as a share.
    var noise: [Metric: Double]
    var verdicts: [Verdict] = []
    var differences: [Difference] = []
    /// How much more memory and descriptors an arm's process keeps of each request than the first arm's.
    var growth: [Growth] = []
    /// What the processes of each arm and the copy held after each round.
    var processes: [Process]
    /// How each arm has changed since the baseline, what else was different then, and what the baseline lacks.
    var (changes, warnings, missing) = ([Verdict](), [String](), [String]())
    var urls: [Target] = []
    var design: Design
    var environment: [String: String]
    var command: String

    /// What an arm did for one URL, or for all.
    struct Figures: Codable, Sendable {
        var name: String
        /// The text of `--arm`, and its part that is not the name.
        var arm, options: String
        var transport, library: String
        /// The requests whose responses count; those whose times count are the blocks'.
        var requests: Int
        var statuses: [Int: Int]
        /// The failures by code, and those before anything counted.
        var errors, warmUpErrors: [String: Int]
        var errorTexts: [String: String]
        var p50Ms, p95Ms, p99Ms, ratePerSecond, cpuMicrosecondsPerRequest: Double?
        var peakResidentKB, threads, descriptors, connections: Int?
        var contextSwitches: Int
        var wireBytes: Int?
        var coldMs: Double?
        var coldsMs, warmUpMs: [Double]
        /// The mean times of the steps of a request.
        var phases: [Phase: Double]?
        /// What the transport reports of itself; `nil` where it does not.
        var statistics: TransportFigures?
        var ended: String?
        /// The responses and parts that there was no room to compare.
        var notCompared, partsNotCompared: Int
        /// For each latency that occurs, in microseconds and within 0.1 %, how often.
        var histogram: [[Int]]

        var hasFailures: Bool { ended != nil || !errors.isEmpty || !warmUpErrors.isEmpty }
        /// The library that the arm runs over, after its options where the name does not say them.
        var origin: String { name == options ? library : "\(options), \(library)" }
    }

    /// A difference between the responses of the first arm and another one.
    struct Difference: Codable, Sendable {
        struct Example: Codable, Sendable { var left, right: String }
        var url: String
        var arms: [String]
        var `where`: String
        var status: Int?
        var share, noiseShare: Double
        /// The known difference that it is, why there is one, and since when; `nil` for a new one.
        var known, why, since: String?
        var example: Example
        var text: String
    }

    struct Process: Codable, Sendable {
        var name: String
        var rounds: [Growth.State]
    }

    struct Target: Codable, Sendable {
        struct Arm: Codable, Sendable {
            var name: String
            var blocks: [Block]
            var summary: Figures
            /// The half-widths of the intervals of the figures, as shares.
            var widths: [Metric: Double]
            var wire: WireView?
        }
        var url: String
        /// The fingerprint of the request, by which an earlier run of the same one is known.
        var request: String?
        /// The arms, and the copy of the first one.
        var arms: [Arm]
        /// How far two copies of the first arm may be apart, as shares.
        var noise: [Metric: Double]
        /// The responses of each arm but the first, compared with the first one's.
        var responses: [Responses]
        /// What was not looked at, in sentences.
        var gaps: [String]
    }

    struct Responses: Codable, Sendable {
        struct Part: Codable, Sendable {
            var `where`: String
            var noiseShare: Double
        }
        var arm: String
        /// What there is to say where nothing differs.
        var text: String
        /// Whether two copies of the first arm differ, so that nothing can be said.
        var isUnfounded: Bool
        /// The parts that change from request to request.
        var setAside: [Part]
        /// The number of differences that are not listed.
        var unlistedNew, unlistedKnown: Int
    }

    struct Design: Codable, Sendable {
        var concurrency: Int
        var rate: Double?
        var warmUp, blockSize, rounds, processes: Int
        var seed: UInt64
        /// What arms are compared by.
        var metrics: [Metric]
    }

    /// The arms that reports show: the copy too if something failed there, since it is the first arm's transport.
    var shownArms: [Figures] { copy.hasFailures ? arms + [copy] : arms }

    /// Whether an arm ended, or a request failed.
    var hasFailures: Bool { (arms + [copy]).contains(where: \.hasFailures) }

    /// Whether the responses differ in a way that an alarm is about, or nothing can be said of them.
    func hasDifferences(for alarm: DifferenceAlarm) -> Bool {
        alarm != .nothing
            && (differences.contains { alarm.counts($0) }
                || urls.contains { $0.responses.contains(where: \.isUnfounded) })
    }

    var json: Data {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            encoder.nonConformingFloatEncodingStrategy = .convertToString(
                positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
            return try encoder.encode(self) + Data("\n".utf8)
        }
    }

    /// Reads the JSON of an earlier comparison.
    init(path: String) async throws {
        let bytes = try await ByteSource(path: path).readAll(limit: 1 << 30)
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        do { self = try decoder.decode(Report.self, from: Data(bytes)) } catch {
            throw ToolFailure(.file, "\(path) is no result of a comparison (--save, --as-json)")
        }
    }
}

/// A step of a request, by its key in the JSON.
enum Phase: String, CaseIterable, Codable, CodingKeyRepresentable, Sendable {
    case queue = "queueMs"
    case lookUp = "nameLookupMs"
    case connect = "connectMs"
    case tls = "tlsMs"
    case firstByte = "firstByteMs"
    case body = "bodyMs"

    var title: String {
        switch self {
        case .queue: "queue"
        case .lookUp: "look-up"
        case .connect: "connect"
        case .tls: "TLS"
        case .firstByte: "first byte"
        case .body: "body"
        }
    }
}
