/// The start of a JSON text as a whole one.
enum JSONPrefix {
    /// Returns the text up to the last value that is complete, with the brackets that end it there. A text without
    /// brackets is returned as it is.
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
}
