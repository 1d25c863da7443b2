import FoundationEssentials
import NetworkCore

/// A value in a HAR document, with the path that names it in errors: `log.entries[3].response.status`.
struct HARNode {
    let value: JSONValue
    let path: String

    /// Returns the error for a value that can't be used.
    func fault(_ problem: String) -> NetworkError {
        .invalidRecording("\(path.isEmpty ? "the document" : path) \(problem)")
    }

    private func expected(_ kind: String) -> NetworkError { fault("is \(value.kind) where \(kind) is expected") }

    // MARK: Objects

    /// Returns a member of an object; `nil` if it is absent or `null`.
    func optional(_ key: String) throws -> HARNode? {
        guard case .object(let members) = value else { throw expected("an object") }
        guard let member = members.first(where: { $0.key.hasSameBytes(as: key) }), member.value != .null else {
            return nil
        }
        return HARNode(value: member.value, path: path.isEmpty ? key : "\(path).\(key)")
    }

    /// Returns a member of an object that has to be there.
    func required(_ key: String) throws -> HARNode {
        guard let member = try optional(key) else { throw fault("has no member '\(key)'") }
        return member
    }

    /// Returns the values of an array.
    /// - Parameter limit: The maximum number of values.
    func array(upTo limit: Int) throws -> [HARNode] {
        guard case .array(let values) = value else { throw expected("an array") }
        guard values.count <= limit else { throw fault("has \(values.count) values; at most \(limit) are accepted") }
        return values.enumerated().map { HARNode(value: $0.element, path: "\(path)[\($0.offset)]") }
    }

    // MARK: Single values

    func string() throws -> String {
        guard case .string(let text) = value else { throw expected("a string") }
        return text
    }

    func bool() throws -> Bool {
        guard case .bool(let isTrue) = value else { throw expected("a boolean") }
        return isTrue
    }

    /// Returns a whole number within limits. HAR writes some of them as `10.0`.
    func integer(_ range: ClosedRange<Int>) throws -> Int {
        guard case .number = value else { throw expected("a number") }
        guard let number = value.wholeNumber, range.contains(number) else {
            throw fault("is not a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Returns a number of bytes; `nil` for `-1`, which HAR writes for an unknown one.
    func size() throws -> Int? {
        let size = try integer(-1...Self.maximumSize)
        return size < 0 ? nil : size
    }

    /// Returns a time in milliseconds; `nil` for one below zero, which stands for an unknown one.
    func time() throws -> Duration? {
        guard case .number(let digits) = value else { throw expected("a number") }
        guard let milliseconds = Double(digits), milliseconds.isFinite, milliseconds <= Self.maximumMilliseconds else {
            throw fault("is not a number of milliseconds up to \(Int(Self.maximumMilliseconds))")
        }
        // A browser may have read a clock that was set back.
        return milliseconds < 0 ? nil : .microseconds(Int((milliseconds * 1000).rounded()))
    }

    private static let maximumSize = 1 << 48
    /// About 30 years.
    private static let maximumMilliseconds = 1e12

    /// Returns the bytes of a string in Base64.
    func base64() throws -> Data {
        guard let bytes = Data(base64Encoded: try string(), options: .ignoreUnknownCharacters) else {
            throw fault("is not Base64")
        }
        return bytes
    }
}

extension NetworkError {
    /// Returns the error for a document that can't be used.
    static func invalidRecording(_ problem: String) -> NetworkError {
        NetworkError(.invalidRecording, "the recording can't be read: \(problem)", phase: .preparing)
    }
}
