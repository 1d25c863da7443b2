/// Swift literals.
enum SwiftText {
    /// Returns bytes as an expression that `Script.Step.send` takes.
    static func literal(_ bytes: [UInt8]) -> String {
        if bytes.count > 4_000 { return "String(repeating: \"a\", count: \(bytes.count))" }
        guard bytes.allSatisfy({ $0 < 0x7F && ($0 >= 0x20 || [9, 10, 13].contains($0)) }) else {
            return "Data(\(bytes))"
        }
        return literal(String(decoding: bytes, as: UTF8.self))
    }

    static func literal(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case "\r": result += "\\r"
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
