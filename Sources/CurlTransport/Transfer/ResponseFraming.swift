/// The framing of a response by its header fields (RFC 9112 §5, §6, §7), looked at line by line. Pure.
///
/// libcurl takes off five transfer codings, compressions too, on the loop's thread and without a callback that could
/// bound what they grow to. No request of this library asks for any (`TE`), so a response may have none but `chunked`.
/// And a line that libcurl reads in another way than the parser of heads would let the two disagree on where a body
/// ends: a space before the colon, a continuation.
struct ResponseFraming {
    /// What is wrong with a line.
    enum Fault { case coding, ambiguous }

    private static let coding = Array("transfer-encoding".utf8)
    private static let length = Array("content-length".utf8)
    private static let accepted = ["chunked", "identity", ""].map { Array($0.utf8) }
    /// Whether the line before was one of framing, which a continuation would change.
    private var isOpen = false

    /// Looks at a header line.
    mutating func fault(in line: some RandomAccessCollection<UInt8>) -> Fault? {
        guard let first = line.first else { return nil }
        let wasOpen = isOpen
        isOpen = false
        switch first {
        case UInt8(ascii: " "), UInt8(ascii: "\t"): return wasOpen ? .ambiguous : nil
        case UInt8(ascii: "t"), UInt8(ascii: "T"): return codingFault(in: line)
        case UInt8(ascii: "c"), UInt8(ascii: "C"):
            guard Self.isNamed(line, Self.length) else { return nil }
            isOpen = true
            return Self.value(of: line, Self.length) == nil ? .ambiguous : nil
        default: return nil
        }
    }

    private mutating func codingFault(in line: some RandomAccessCollection<UInt8>) -> Fault? {
        guard Self.isNamed(line, Self.coding) else { return nil }
        isOpen = true
        guard let value = Self.value(of: line, Self.coding) else { return .ambiguous }
        let words = value.split(separator: UInt8(ascii: ",")).map { coding in
            let isSpace: (UInt8) -> Bool = { $0 <= 0x20 }
            return coding.drop(while: isSpace).reversed().drop(while: isSpace).reversed().map { $0 | 0x20 }
        }
        guard words.allSatisfy(Self.accepted.contains) else { return .coding }
        return words.allSatisfy(\.isEmpty) ? .ambiguous : nil
    }

    /// Whether a line begins with a name, whatever comes after it, a colon or blanks.
    private static func isNamed(_ line: some RandomAccessCollection<UInt8>, _ name: [UInt8]) -> Bool {
        guard line.count > name.count, zip(line, name).allSatisfy({ $0 | 0x20 == $1 }) else { return false }
        let next = line[line.index(line.startIndex, offsetBy: name.count)]
        return next <= 0x20 || next == UInt8(ascii: ":")
    }

    /// What follows the colon, which must follow the name.
    private static func value<Line: RandomAccessCollection<UInt8>>(
        of line: Line, _ name: [UInt8]
    ) -> Line.SubSequence? {
        let rest = line.dropFirst(name.count)
        return rest.first == UInt8(ascii: ":") ? rest.dropFirst() : nil
    }
}
