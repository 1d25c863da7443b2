import Foundation
import NetworkLayer

/// The differences between the observations of one URL over two transports, in words.
struct Differences {
    /// The differences; empty if both observations are alike.
    private(set) var found: [String] = []
    /// The parts that are not compared: they change between requests over one transport, belong to the connection, or
    /// have no counterpart.
    private(set) var notCompared: [String] = []

    /// Compares the responses of the same status with one another: those of different statuses are different responses.
    init(_ left: Observation, _ right: Observation) {
        compareErrors(left, right)
        for (one, other) in [(left, right), (right, left)] where one.statuses.isEmpty && !other.statuses.isEmpty {
            notCompared.append("no response over \(one.transport)")
        }
        guard !left.statuses.isEmpty, !right.statuses.isEmpty else { return }
        let statuses = Set(left.statuses.keys).union(right.statuses.keys).sorted()
        if Set(left.statuses.keys) != Set(right.statuses.keys) {
            found.append(
                "status: \(left.statusText) over \(left.transport), \(right.statusText) over \(right.transport)")
        }
        for status in statuses { compare(status, left, right, statuses.count > 1 ? "status \(status): " : "") }
    }

    /// Compares the responses with one status.
    /// - Parameter prefix: The name of the status, if there are others.
    private mutating func compare(_ status: Int, _ left: Observation, _ right: Observation, _ prefix: String) {
        let names = (left.transport, right.transport)
        for (one, other) in [(left, right), (right, left)] where other.statuses[status] == nil {
            notCompared.append("\(prefix)only over \(one.transport)")
            return
        }
        guard let first = left.responses[status], let second = right.responses[status] else {
            notCompared.append("\(prefix)more than \(Observation.maximumStatuses) statuses")
            return
        }
        var part = Differences()
        part.compareFields(first.first, second.first, first.changingFields.union(second.changingFields), names)
        if first.bodyChanges || second.bodyChanges {
            part.notCompared.append("the body changes from request to request")
        } else if first.first.body != second.first.body {
            part.found.append(Self.bodies(first.first.body, second.first.body, names))
        }
        found += part.found.map { prefix + $0 }
        notCompared += part.notCompared.map { prefix + $0 }
    }

    private init() {}

    private mutating func compareErrors(_ left: Observation, _ right: Observation) {
        guard left.errors != right.errors else { return }
        found.append("errors: \(left.errorText) over \(left.transport), \(right.errorText) over \(right.transport)")
    }

    /// The fields that describe the connection and not the response (RFC 9110 §7.6.1). They depend on the fields that a
    /// transport sends, and would make every comparison a difference.
    private static let connectionFields: Set<String> = ["connection", "keep-alive", "proxy-connection"]

    private mutating func compareFields(
        _ left: Snapshot,
        _ right: Snapshot,
        _ changing: Set<String>,
        _ names: (String, String)
    ) {
        for field in changing.sorted() {
            notCompared.append("the header field '\(field.shown)' changes from request to request")
        }
        for field in Set(left.fields.keys).union(right.fields.keys).subtracting(changing).sorted() {
            guard !Self.connectionFields.contains(field) else {
                if !Snapshot.areSame(left.fields[field], right.fields[field]) {
                    notCompared.append("the header field '\(field)' differs, and belongs to the connection")
                }
                continue
            }
            switch (left.fields[field], right.fields[field]) {
            case (let first?, let second?) where Snapshot.areSame(first, second): break
            case (let first?, let second?)
            where first.joined(separator: ", ").hasSameBytes(as: second.joined(separator: ", ")):
                found.append(
                    "header field '\(field.shown)': \(first.count) separate over \(names.0), "
                        + "\(second.count) over \(names.1), the same when joined"
                )
            case (let first?, let second?):
                found.append(
                    "header field '\(field.shown)': \(Self.quoted(first, of: field)) over \(names.0), "
                        + "\(Self.quoted(second, of: field)) over \(names.1)"
                )
            case (.some, nil): found.append("header field '\(field.shown)': only over \(names.0)")
            case (nil, _): found.append("header field '\(field.shown)': only over \(names.1)")
            }
        }
    }

    /// Returns the values as a log may show them: secrets show only that they differ.
    private static func quoted(_ values: [String], of name: String) -> String {
        values.map { value in
            let field = HTTPField.Name(name).map { HTTPField(name: $0, value: value) }
            return "'\(field.map { Redaction().value(of: $0).shown } ?? "…")'"
        }.joined(separator: " and ")
    }

    private static func bodies(_ left: Data, _ right: Data, _ names: (String, String)) -> String {
        let offset = zip(left, right).enumerated().first { $1.0 != $1.1 }?.offset ?? min(left.count, right.count)
        return left.count == right.count
            ? "body: \(left.count) bytes over both, different from byte \(offset) on"
            : "body: \(left.count) bytes over \(names.0), \(right.count) over \(names.1), "
                + "different from byte \(offset) on"
    }
}

extension Observation {
    /// The statuses, such as `200`, or `200 ×18, 404 ×2`.
    var statusText: String {
        let sorted = statuses.sorted { $0.key < $1.key }
        if sorted.isEmpty { return "-" }
        return sorted.count == 1 ? "\(sorted[0].key)" : sorted.map { "\($0.key) ×\($0.value)" }.joined(separator: ", ")
    }

    /// The errors, such as `none`, or `connectFailed ×20`.
    var errorText: String {
        errors.isEmpty
            ? "none" : errors.sorted { $0.key < $1.key }.map { "\($0.key) ×\($0.value)" }.joined(separator: ", ")
    }
}
