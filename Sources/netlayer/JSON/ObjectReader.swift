import NetworkLayer

/// Takes an object apart key by key, checks each value's type, and in the end refuses the keys that nobody asked for:
/// a typo must not pass as a default.
///
/// `null` is the same as an absent key.
struct ObjectReader {
    /// Where the object stands, for errors.
    let path: String
    private var members: [String: JSONValue]

    /// - Parameter path: Where the object stands, for errors: `options.`, or nothing at the top.
    init(_ members: [JSONValue.Member], path: String = "") {
        self.path = path
        self.members = Dictionary(members.map { ($0.key, $0.value) }) { first, _ in first }
    }

    mutating func value(_ key: String) -> JSONValue? {
        let value = members.removeValue(forKey: key)
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

    /// An array of names and values; empty if there is none.
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

    /// - Throws: ``LineProblem`` that names the keys that were not taken.
    func finish() throws {
        guard !members.isEmpty else { return }
        let names = members.keys.sorted().map { "'\(path)\($0.shown)'" }.joined(separator: ", ")
        throw LineProblem("unknown \(members.count == 1 ? "key" : "keys") \(names)")
    }

    private func mismatch(_ key: String, _ value: JSONValue, _ expected: String) -> LineProblem {
        LineProblem("'\(path)\(key)' is \(value.kind), and \(expected) was expected")
    }
}

/// What is wrong with a line of input. The message names keys and types, never values that may be secrets.
struct LineProblem: Error, Equatable {
    var message: String

    init(_ message: String) { self.message = message }
}
