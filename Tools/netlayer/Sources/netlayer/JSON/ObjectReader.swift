import JSONText
import NetworkLayer

/// Reads an object key by key, checks the type of each value, and finally refuses unknown keys, because a typo must not
/// silently mean the default.
///
/// A key whose value is `null` counts as absent.
struct ObjectReader {
    /// The path of the object, for error messages.
    let path: String
    /// By the bytes of their keys: for Swift, U+212A equals "K".
    private var members: [[UInt8]: JSONValue]

    /// Creates a reader of an object's members.
    /// - Parameter path: The path of the object for error messages, such as `options.`; empty for the top level.
    init(_ members: [JSONValue.Member], path: String = "") {
        self.path = path
        self.members = Dictionary(members.map { (Array($0.key.utf8), $0.value) }) { first, _ in first }
    }

    mutating func value(_ key: String) -> JSONValue? {
        let value = members.removeValue(forKey: Array(key.utf8))
        return value == .null ? nil : value
    }

    mutating func string(_ key: String) throws -> String? {
        guard let value = value(key) else { return nil }
        guard case .string(let text) = value else { throw mismatch(key, value, "a string") }
        return text
    }

    mutating func bool(_ key: String) throws -> Bool? {
        guard let value = value(key) else { return nil }
        guard case .bool(let flag) = value else { throw mismatch(key, value, "true or false") }
        return flag
    }

    mutating func integer(_ key: String) throws -> Int? {
        guard let value = value(key) else { return nil }
        guard let number = value.wholeNumber else {
            if case .number(let digits) = value {
                throw LineProblem("'\(path)\(key)' is \(digits.shown), not a whole number of 64 bits")
            }
            throw mismatch(key, value, "a whole number")
        }
        return number
    }

    mutating func array(_ key: String) throws -> [JSONValue]? {
        guard let value = value(key) else { return nil }
        guard case .array(let values) = value else { throw mismatch(key, value, "an array") }
        return values
    }

    /// Returns an array of names and values; empty if the key is absent.
    mutating func pairs(_ key: String) throws -> [(name: String, value: String)] {
        try (array(key) ?? []).enumerated().map { index, pair in
            guard case .array(let texts) = pair, texts.count == 2, case .string(let name) = texts[0],
                case .string(let value) = texts[1]
            else { throw LineProblem("'\(path)\(key)[\(index)]' must be a name and a value, both strings") }
            return (name, value)
        }
    }

    mutating func object(_ key: String) throws -> ObjectReader? {
        guard let value = value(key) else { return nil }
        guard case .object(let members) = value else { throw mismatch(key, value, "an object") }
        return ObjectReader(members, path: "\(path)\(key).")
    }

    /// Checks that every key was read.
    /// - Throws: ``LineProblem`` that names the remaining keys.
    func finish() throws {
        guard !members.isEmpty else { return }
        let keys = members.keys.map { String(decoding: $0, as: UTF8.self) }.sorted()
        let names = keys.map { "'\(path)\($0.shown)'" }.joined(separator: ", ")
        throw LineProblem("unknown \(members.count == 1 ? "key" : "keys") \(names)")
    }

    private func mismatch(_ key: String, _ value: JSONValue, _ expected: String) -> LineProblem {
        LineProblem("'\(path)\(key)' is \(value.kind), and \(expected) was expected")
    }
}

/// A problem with a line of input. The message names keys and types, never values, which may be secrets.
struct LineProblem: Error, Equatable {
    var message: String

    init(_ message: String) { self.message = message }
}
