/// The name of a type as a program spells it: `[Account]?`, and not `Swift.Optional<Swift.Array<Walk.Account>>`.
enum TypeName {
    /// The name without modules and enclosing types. What can't be taken apart, a closure's type for example, is as
    /// Swift's reflection writes it.
    static func of(_ type: Any.Type) -> String { spelled(String(reflecting: type)) }

    /// The same for a name of `String(reflecting:)`.
    static func spelled(_ reflected: String) -> String {
        var rest = reflected[...]
        guard let name = name(&rest), rest.isEmpty else { return reflected }
        return name
    }

    /// With its article: `an Int`, `a User`, `an array`.
    static func withArticle(_ type: Any.Type) -> String {
        if type == [Any].self { return "an array" }
        if type == [String: Any].self { return "an object" }
        let name = of(type)
        return ("AEIO".contains(name.first ?? "-") ? "an " : "a ") + name
    }

    /// Takes a name off the front; `nil` for what is none.
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
            // A type within a generic one.
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

    /// Takes `Module.Outer.Name` off the front: the last part.
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
