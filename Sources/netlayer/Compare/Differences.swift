import Foundation
import NetworkLayer

/// The differences between the observations of one URL over two transports, in words.
struct Differences {
    /// The differences; empty if both observations are alike.
    private(set) var found: [String] = []
    /// The parts that are not compared: they change between requests over one transport, or belong to the connection.
    private(set) var notCompared: [String] = []

    init(_ left: Observation, _ right: Observation) {
        compareErrors(left, right)
        guard let first = left.first, let second = right.first else { return }
        let names = (left.transport, right.transport)
        if Set(left.statuses.keys) != Set(right.statuses.keys) {
            found.append("status: \(left.statusText) over \(names.0), \(right.statusText) over \(names.1)")
        }
        // Responses with different statuses are different responses, so comparing the rest adds nothing.
        guard first.status == second.status else { return }
        compareFields(first, second, left.changingFields.union(right.changingFields), names)
        if left.bodyChanges || right.bodyChanges {
            notCompared.append("the body changes from request to request")
        } else if first.body != second.body {
            found.append(Self.bodies(first.body, second.body, names))
        }
    }

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
                if left.fields[field] != right.fields[field] {
                    notCompared.append("the header field '\(field)' differs, and belongs to the connection")
                }
                continue
            }
            switch (left.fields[field], right.fields[field]) {
            case (let first?, let second?) where first == second: break
            case (let first?, let second?) where first.joined(separator: ", ") == second.joined(separator: ", "):
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
