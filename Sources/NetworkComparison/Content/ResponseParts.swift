import Foundation
import JSONText
import NetworkCore

/// What one part of a response is in one response.
package struct PartValue: Hashable, Sendable {
    /// The kind of value: `absent`, or JSON's `string`, `number`, …, or `text`.
    package var kind: String
    /// The value, or its digest if it is long.
    package var text: String
    /// Whether ``text`` is the length and the digest of a long value.
    let isDigest: Bool

    package init(_ text: String, kind: String = "text") {
        self.kind = kind
        isDigest = text.utf8.count > Self.maximumBytes
        self.text =
            !isDigest
            ? text : "\(text.utf8.count) bytes, SHA-256 \(SHA256Checksum.digest(text.utf8).hexadecimal)"
    }

    /// By their bytes: for Swift, "é" equals "e" with an accent.
    package static func == (left: PartValue, right: PartValue) -> Bool {
        left.kind == right.kind && left.text.hasSameBytes(as: right.text)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        for byte in text.utf8 { hasher.combine(byte) }
    }

    /// The part is not in the response.
    package static let absent = PartValue("", kind: "absent")

    private static let maximumBytes = 256
}

/// Takes responses apart, so that a part that changes from request to request hides no other one.
package enum ResponseParts {
    /// The most parts of one body. A body with more is compared as a whole.
    static let maximumBodyParts = 5_000
    /// The most bytes of all names of a body's parts, which is compared as a whole otherwise: paths repeat keys.
    static let maximumNameBytes = 1 << 20

    /// Returns the parts by their names:
    ///
    /// - `field:name` for each header field, its repetitions in order;
    /// - `fieldOrder` and `fieldCase`, the names in their order and as they were written;
    /// - `json:/path` for each value of a JSON body, those of ``EventParts`` for server-sent events, those of
    ///   ``TextParts`` for texts, and `body` for any other;
    /// - `trailers` and `redirects`.
    ///
    /// Status and error are not among them: responses of different statuses are different responses.
    package static func parts(of response: RecordedResponse) -> [PartName: PartValue] {
        headParts(of: response).merging(bodyParts(of: response)) { $1 }
    }

    /// Returns the parts that are not of the body.
    static func headParts(of response: RecordedResponse) -> [PartName: PartValue] {
        var parts: [PartName: PartValue] = [:]
        var values: [String: [String]] = [:]
        let fields = response.fields.filter { !ignored.contains($0.name.lowercasedASCII) }
        for field in fields { values[field.name.lowercasedASCII, default: []].append(field.value) }
        for (name, values) in values { parts[PartName("field:\(name)")] = PartValue(values.joined(separator: "\n")) }
        parts["fieldOrder"] = PartValue(fields.map(\.name.lowercasedASCII).joined(separator: ", "))
        parts["fieldCase"] = PartValue(Set(fields.map(\.name)).sorted().joined(separator: ", "))
        if !response.trailers.isEmpty {
            parts["trailers"] = PartValue(response.trailers.map { "\($0.name): \($0.value)" }.joined(separator: "\n"))
        }
        if !response.redirects.isEmpty { parts["redirects"] = PartValue(response.redirects.joined(separator: " ")) }
        return parts
    }

    /// Whether a place is a part of a body, and not a body as a whole.
    package static func isOfBodyParts(_ place: String) -> Bool {
        ["json:", "event:", "text:"].contains { place.hasBytePrefix($0) }
    }

    /// The fields that differ from response to response, or that belong to the connection (RFC 9110 §7.6.1).
    private static let ignored: Set<String> = ["date", "connection", "keep-alive", "proxy-connection"]

    /// Returns the Content-Type, by which the body is taken apart.
    static func type(of response: RecordedResponse) -> String {
        response.fields.first { $0.name.lowercasedASCII == "content-type" }?.value.lowercasedASCII ?? ""
    }

    /// Returns the parts of the body.
    static func bodyParts(of response: RecordedResponse) -> [PartName: PartValue] {
        if let digest = response.digest {
            return ["body": PartValue("\(response.bodyBytes) bytes, SHA-256 \(digest)")]
        }
        let type = type(of: response)
        if type.hasPrefix("text/event-stream"),
            let parts = EventParts.parts(of: response.body, isCut: response.isCut, limit: maximumBodyParts)
        {
            return parts
        }
        let isJSON = type.contains("json") || type.isEmpty && [0x7B, 0x5B].contains(response.body.first)
        if isJSON, let value = try? JSONParser.parse(json(of: response), allowsRepeatedKeys: false) {
            var parts: [PartName: PartValue] = [:]
            var room = maximumNameBytes
            if add(value, at: "json:", to: &parts, within: &room) { return parts }
        }
        return TextParts.parts(of: response.body, type, limit: maximumBodyParts) ?? ["body": text(of: response.body)]
    }

    /// Returns the JSON text of a body without a byte order mark. What there is of one that was cut is completed.
    private static func json(of response: RecordedResponse) -> [UInt8] {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let body = response.body.starts(with: mark) ? response.body.dropFirst(mark.count) : response.body
        return response.isCut ? JSONPrefix.completed(Array(body)) : Array(body)
    }

    /// A text is shown as it is, other bytes by their length and digest.
    static func text(of bytes: some Collection<UInt8>, kind: String = "text") -> PartValue {
        if let text = String(validating: bytes, as: UTF8.self) { return PartValue(text, kind: kind) }
        return PartValue(
            "\(bytes.count) bytes, SHA-256 \(SHA256Checksum.digest(bytes).hexadecimal)",
            kind: kind == "text" ? "bytes" : "\(kind), bytes")
    }

    /// Adds the parts of a value, and returns whether there was room for all; `room` is that of names, in bytes.
    private static func add(
        _ value: JSONValue, at path: String, to parts: inout [PartName: PartValue], within room: inout Int
    ) -> Bool {
        room -= path.utf8.count
        guard parts.count < maximumBodyParts, room >= 0, !Task.isCancelled else { return false }
        let name = PartName(path)
        switch value {
        case .object(let members):
            if members.isEmpty { parts[name] = PartValue("{}", kind: "object") }
            // A number as a key is no index.
            if members.contains(where: { Int($0.key) != nil }) { parts[name] = PartValue("{…}", kind: "object") }
            return members.allSatisfy { add($0.value, at: "\(path)/\(escaped($0.key))", to: &parts, within: &room) }
        case .array(let values):
            if values.isEmpty { parts[name] = PartValue("[]", kind: "array") }
            return values.enumerated().allSatisfy {
                add($0.element, at: "\(path)/\($0.offset)", to: &parts, within: &room)
            }
        case .string(let text): parts[name] = PartValue(text, kind: "string")
        case .number(let digits): parts[name] = PartValue(digits, kind: "number")
        case .bool(let value): parts[name] = PartValue("\(value)", kind: "Boolean")
        case .null: parts[name] = PartValue("null", kind: "null")
        }
        return true
    }

    /// The largest part of a key in the name of a place, in bytes.
    private static let maximumKey = 128

    /// Returns a key as a part of a JSON Pointer (RFC 6901 §3), printable and cut: it is the server's.
    private static func escaped(_ key: String) -> String {
        // A key of which only the digest is left has to name a secret as before.
        let mark = key.utf8.count > maximumKey && PartSecrets.isSecret(key[...]) ? "secret, " : ""
        let key =
            key.utf8.count <= maximumKey
            ? key : "\(mark)\(key.utf8.count) bytes, SHA-256 \(SHA256Checksum.digest(key.utf8).hexadecimal.prefix(16))"
        return key.unicodeScalars.reduce(into: "") { escaped, scalar in
            switch scalar {
            case "~": escaped += "~0"
            case "/": escaped += "~1"
            // A key may contain what a control character is shown as.
            case "\\": escaped += "\\\\"
            case _ where scalar.isInvisible: escaped += scalar.escaped(asASCII: true)
            default: escaped.unicodeScalars.append(scalar)
            }
        }
    }
}

/// The name of a part, told apart by its bytes: for Swift, "é" equals "e" with an accent, also in a server's keys.
package struct PartName: Hashable, Comparable, Sendable, ExpressibleByStringLiteral {
    package let text: String
    /// Calculated once: each response of many looks all of its names up.
    private let number: Int

    package init(_ text: String) {
        self.text = text
        var hasher = Hasher()
        for byte in text.utf8 { hasher.combine(byte) }
        number = hasher.finalize()
    }

    package init(stringLiteral text: String) { self.init(text) }

    package static func == (left: PartName, right: PartName) -> Bool {
        // The helper of another module is generic, and slower by far.
        left.number == right.number && left.text.utf8.elementsEqual(right.text.utf8)
    }

    package static func < (left: PartName, right: PartName) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(number) }

    /// Whether it is the name of header fields, or of their order.
    var isOfHead: Bool { text.hasPrefix("field") }
}
