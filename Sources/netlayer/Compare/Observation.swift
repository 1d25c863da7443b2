import Foundation
import NetworkLayer

/// The parts of a response that are compared.
struct Snapshot: Sendable {
    var status: Int
    /// Lowercase names with their values, in the order of repetition, without Date.
    var fields: [String: [String]]
    var body: Data

    init(status: Int, headerFields: HTTPFields, body: Data) {
        self.status = status
        self.body = body
        fields = [:]
        for field in headerFields where field.name != .date {
            fields[field.name.canonicalName, default: []].append(field.value)
        }
    }
}

extension Snapshot {
    /// Whether two lists of values consist of the same bytes: for Swift, "é" equals "e" with an accent.
    static func areSame(_ left: [String]?, _ right: [String]?) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        return left.elementsEqual(right) { $0.hasSameBytes(as: $1) }
    }
}

/// The responses with one status.
struct StatusObservation: Sendable {
    /// The first response. The others are compared with it and not kept.
    let first: Snapshot
    /// The header fields that change between responses over this transport.
    private(set) var changingFields: Set<String> = []
    private(set) var bodyChanges = false

    init(_ first: Snapshot) { self.first = first }

    mutating func record(_ snapshot: Snapshot) {
        bodyChanges = bodyChanges || first.body != snapshot.body
        for name in Set(first.fields.keys).union(snapshot.fields.keys)
        where !Snapshot.areSame(first.fields[name], snapshot.fields[name]) {
            changingFields.insert(name)
        }
    }
}

/// The outcomes of the requests for one URL over one transport.
struct Observation: Sendable {
    /// The most statuses whose responses are compared. Each of them keeps a body.
    static let maximumStatuses = 8

    let transport: String
    private(set) var durations: [Duration] = []
    private(set) var statuses: [Int: Int] = [:]
    private(set) var errors: [String: Int] = [:]
    /// The message of the first error with each code.
    private(set) var firstErrors: [String: String] = [:]
    private(set) var byteCounts: ClosedRange<Int>?
    /// The responses by their status: the statuses that came first, ``maximumStatuses`` at most.
    private(set) var responses: [Int: StatusObservation] = [:]
    /// The total time of this transport's turns.
    var busy = Duration.zero

    init(transport: String) { self.transport = transport }

    var failures: Int { errors.values.reduce(0, +) }

    mutating func record(_ snapshot: Snapshot, after duration: Duration) {
        durations.append(duration)
        statuses[snapshot.status, default: 0] += 1
        let count = snapshot.body.count
        byteCounts = byteCounts.map { min($0.lowerBound, count)...max($0.upperBound, count) } ?? count...count
        if responses[snapshot.status] != nil {
            responses[snapshot.status]?.record(snapshot)
        } else if responses.count < Self.maximumStatuses {
            responses[snapshot.status] = StatusObservation(snapshot)
        }
    }

    mutating func record(_ error: any Error) {
        let code = NetworkError.code(of: error)?.rawValue ?? "\(type(of: error))"
        errors[code, default: 0] += 1
        if firstErrors[code] == nil { firstErrors[code] = NetworkError.logText(of: error) }
    }

    /// The responses per second during this transport's turns.
    var requestsPerSecond: Double? {
        busy > .zero && !durations.isEmpty ? Double(durations.count) / busy.inSeconds : nil
    }
}
