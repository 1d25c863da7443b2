import Foundation
import NetworkLayer

/// The parts of a response that are compared.
struct Snapshot: Sendable, Equatable {
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

/// The outcomes of the requests for one URL over one transport.
struct Observation: Sendable {
    let transport: String
    private(set) var durations: [Duration] = []
    private(set) var statuses: [Int: Int] = [:]
    private(set) var errors: [String: Int] = [:]
    /// The message of the first error with each code.
    private(set) var firstErrors: [String: String] = [:]
    private(set) var byteCounts: ClosedRange<Int>?
    /// The first response. The others are compared with it and not kept.
    private(set) var first: Snapshot?
    /// The header fields that change between responses over this transport.
    private(set) var changingFields: Set<String> = []
    private(set) var bodyChanges = false
    /// The total time of this transport's turns.
    var busy = Duration.zero

    init(transport: String) { self.transport = transport }

    var failures: Int { errors.values.reduce(0, +) }

    mutating func record(_ snapshot: Snapshot, after duration: Duration) {
        durations.append(duration)
        statuses[snapshot.status, default: 0] += 1
        let count = snapshot.body.count
        byteCounts = byteCounts.map { min($0.lowerBound, count)...max($0.upperBound, count) } ?? count...count
        guard let first else {
            first = snapshot
            return
        }
        guard first.status == snapshot.status else { return }
        bodyChanges = bodyChanges || first.body != snapshot.body
        for name in Set(first.fields.keys).union(snapshot.fields.keys) where first.fields[name] != snapshot.fields[name]
        {
            changingFields.insert(name)
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
