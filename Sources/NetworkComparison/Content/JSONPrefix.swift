import JSONText
import NetworkCore

/// The start of a JSON text as a whole one.
enum JSONPrefix {
    /// Returns the text up to the last value that is complete, with the brackets that end it there. A text without
    /// brackets, or nested deeper than the parser reads, is returned as it is.
    static func completed(_ bytes: [UInt8]) -> [UInt8] {
        var open: [UInt8] = []
        var (end, ends) = (bytes.count, [UInt8]())
        var (isString, isEscaped, hasBrackets) = (false, false, false)
        for (index, byte) in bytes.enumerated() {
            if isEscaped {
                isEscaped = false
                continue
            }
            if isString {
                isEscaped = byte == UInt8(ascii: "\\")
                isString = byte != UInt8(ascii: "\"")
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                // The closing bracket is two after the opening one in ASCII.
                open.append(byte + 2)
                // The parser refuses what is deeper, and each bracket copies those that are open.
                guard open.count <= maximumOpen else { return bytes }
                (end, ends, hasBrackets) = (index + 1, open, true)
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                _ = open.popLast()
                (end, ends) = (index + 1, open)
            case UInt8(ascii: ","): (end, ends) = (index, open)
            default: break
            }
        }
        return hasBrackets ? bytes[..<end] + ends.reversed() : bytes
    }

    /// The most brackets that are open at once in a text that the parser reads: the outermost one has the depth 0.
    private static let maximumOpen = JSONParser.maximumDepth + 1
}
