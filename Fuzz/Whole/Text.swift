/// Bytes in the notation of a scenario's line: printable ASCII unchanged, all other bytes as backslash escapes.
enum Text {
    static func bytes(of line: ArraySlice<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = line
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let kind = rest.popFirst() else {
                bytes.append(byte)
                continue
            }
            switch kind {
            case UInt8(ascii: "r"): bytes.append(0x0D)
            case UInt8(ascii: "n"): bytes.append(0x0A)
            case UInt8(ascii: "t"): bytes.append(0x09)
            case UInt8(ascii: "x"):
                guard let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else { continue }
                bytes.append(value)
                rest = rest.dropFirst(2)
            default: bytes.append(kind)
            }
        }
        return bytes
    }

    static func line(of bytes: some Sequence<UInt8>) -> String {
        var line = ""
        for byte in bytes {
            switch byte {
            case 0x0D: line += "\\r"
            case 0x0A: line += "\\n"
            case 0x09: line += "\\t"
            case UInt8(ascii: "\\"): line += "\\\\"
            case 0x20...0x7E: line.unicodeScalars.append(Unicode.Scalar(byte))
            default: line += "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
        return line
    }

    /// Returns the bytes with every occurrence of a text replaced.
    static func replacing(_ old: String, by new: String, in bytes: [UInt8]) -> [UInt8] {
        let old = Array(old.utf8)
        var (result, start) = ([UInt8](), 0)
        while let found = firstIndex(of: old, in: bytes, from: start) {
            result += bytes[start..<found] + Array(new.utf8)
            start = found + old.count
        }
        return start == 0 ? bytes : result + bytes[start...]
    }

    static func contains(_ text: String, in bytes: [UInt8]) -> Bool {
        firstIndex(of: Array(text.utf8), in: bytes, from: 0) != nil
    }

    static func firstIndex(of part: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
        ByteSearch.firstIndex(of: part, in: bytes, from: start)
    }
}
