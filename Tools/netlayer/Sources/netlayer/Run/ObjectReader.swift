import JSONText
import NetworkLayer

/// Reads an object key by key, checks the type of each value, and finally refuses unknown keys, because a typo must not
/// silently mean the default. A key whose value is `null` counts as absent.
struct ObjectReader {
    /// The path of the object for error messages, such as `options.`; empty for the top level.
    let path: String
    /// By the bytes of their keys: for Swift, U+212A equals "K".
    private var members: [[UInt8]: JSONValue]

    init(_ members: [JSONValue.Member], path: String = "") {
        self.path = path
        self.members = Dictionary(members.map { (Array($0.key.utf8), $0.value) }) { first, _ in first }
    }

    mutating func value(_ key: String) -> JSONValue? {
        let value = members.removeValue(forKey: Array(key.utf8))
        return value == .null ? nil : value
    }

    private mutating func read<Value>(
        _ key: String, _ expected: String, _ read: (JSONValue) -> Value?
    ) throws -> Value? {
        guard let value = value(key) else { return nil }
        if let value = read(value) { return value }
        throw LineProblem("'\(path)\(key)' is \(value.kind), and \(expected) was expected")
    }

    mutating func string(_ key: String) throws -> String? {
        try read(key, "a string") { if case .string(let text) = $0 { text } else { nil } }
    }

    mutating func bool(_ key: String) throws -> Bool? {
        try read(key, "true or false") { if case .bool(let flag) = $0 { flag } else { nil } }
    }

    mutating func array(_ key: String) throws -> [JSONValue]? {
        try read(key, "an array") { if case .array(let values) = $0 { values } else { nil } }
    }

    mutating func object(_ key: String) throws -> ObjectReader? {
        let members = try read(key, "an object") { if case .object(let members) = $0 { members } else { nil } }
        return members.map { ObjectReader($0, path: "\(path)\(key).") }
    }

    mutating func integer(_ key: String) throws -> Int? {
        guard let value = value(key) else { return nil }
        if let number = value.wholeNumber { return number }
        guard case .number(let digits) = value else {
            throw LineProblem("'\(path)\(key)' is \(value.kind), and a whole number was expected")
        }
        throw LineProblem("'\(path)\(key)' is \(digits.shown), not a whole number of 64 bits")
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

    /// Checks that every key was read.
    func finish() throws {
        guard !members.isEmpty else { return }
        let keys = members.keys.map { String(decoding: $0, as: UTF8.self) }.sorted()
        let names = keys.map { "'\(path)\($0.shown)'" }.joined(separator: ", ")
        throw LineProblem("unknown \(members.count == 1 ? "key" : "keys") \(names)")
    }
}

/// A problem with a line of input. The message names keys and types, never values, which may be secrets.
struct LineProblem: Error, Equatable {
    var message: String

    init(_ message: String) { self.message = message }
}
