/// The name of a type as source code spells it: `[Account]?`, not `Optional<Array<Account>>`.
enum TypeName {
    static func of(_ type: Any.Type) -> String { (type as? any SpelledType.Type)?.spelling ?? "\(type)" }

    /// Returns the name with its article: `an Int`, `a User`, `an array`.
    static func withArticle(_ type: Any.Type) -> String {
        if type == [Any].self { return "an array" }
        if type == [String: Any].self { return "an object" }
        let name = of(type)
        return ("AEIO".contains(name.first ?? "-") ? "an " : "a ") + name
    }
}

private protocol SpelledType {
    static var spelling: String { get }
}

extension Array: SpelledType {
    fileprivate static var spelling: String { "[\(TypeName.of(Element.self))]" }
}

extension Dictionary: SpelledType {
    fileprivate static var spelling: String { "[\(TypeName.of(Key.self)): \(TypeName.of(Value.self))]" }
}

extension Optional: SpelledType {
    fileprivate static var spelling: String { TypeName.of(Wrapped.self) + "?" }
}
