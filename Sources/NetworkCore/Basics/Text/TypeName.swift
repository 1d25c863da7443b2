/// The name of a type as source code spells it: `[Account]?`, not `Swift.Optional<Swift.Array<Walk.Account>>`.
enum TypeName {
    /// Returns the name without modules and enclosing types.
    static func of(_ type: Any.Type) -> String { spelled(String(reflecting: type)) }

    /// Does the same for a name from `String(reflecting:)`.
    static func spelled(_ reflected: String) -> String {
        var rest = reflected[...]
        guard let name = name(&rest), rest.isEmpty else { return reflected }
        return name
    }

    /// Returns the name with its article: `an Int`, `a User`, `an array`.
    static func withArticle(_ type: Any.Type) -> String {
        if type == [Any].self { return "an array" }
        if type == [String: Any].self { return "an object" }
        let name = of(type)
        return ("AEIO".contains(name.first ?? "-") ? "an " : "a ") + name
    }

    /// Consumes a type's name at the start, or returns `nil` if there is none.
    private static func name(_ rest: inout Substring) -> String? {
        guard let base = path(&rest) else { return nil }
        var arguments: [String] = []
        if rest.first == "<" {
            repeat {
                rest.removeFirst()
                if rest.first == " " { rest.removeFirst() }
                guard let argument = name(&rest) else { return nil }
                arguments.append(argument)
            } while rest.first == ","
            guard rest.first == ">" else { return nil }
            rest.removeFirst()
            // A type within a generic type.
            if rest.first == "." {
                rest.removeFirst()
                return name(&rest)
            }
        }
        switch (base, arguments.count) {
        case ("Array", 1): return "[\(arguments[0])]"
        case ("Optional", 1): return "\(arguments[0])?"
        case ("Dictionary", 2): return "[\(arguments[0]): \(arguments[1])]"
        default: return arguments.isEmpty ? base : "\(base)<\(arguments.joined(separator: ", "))>"
        }
    }

    /// Consumes `Module.Outer.Name` at the start and returns the last part.
    private static func path(_ rest: inout Substring) -> String? {
        var last: Substring?
        while true {
            if rest.hasPrefix("("), let end = rest.firstIndex(of: ")") {
                // `(unknown context at $…)` of a local type; a tuple has a comma.
                guard rest.hasPrefix("(unknown context") else { return nil }
                rest = rest[rest.index(after: end)...]
            } else {
                let part = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
                guard !part.isEmpty else { return nil }
                last = part
                rest = rest[part.endIndex...]
            }
            guard rest.first == "." else { return last.map(String.init) }
            rest.removeFirst()
        }
    }
}
