/// The transfer codings of a response (RFC 9112 §7).
///
/// libcurl takes off five of them, compressions too, on the loop's thread and without a callback that could bound what
/// they grow to. No request of this library asks for any (`TE`), so a response may have none but `chunked`.
enum TransferCoding {
    private static let name = Array("transfer-encoding:".utf8)
    private static let accepted = ["chunked", "identity", ""].map { Array($0.utf8) }

    /// Whether a header line names a transfer coding that is not accepted.
    static func isRefused(in line: some RandomAccessCollection<UInt8>) -> Bool {
        guard let first = line.first, first | 0x20 == UInt8(ascii: "t"), line.count >= name.count,
            zip(line, name).allSatisfy({ $0 == $1 || $0 | 0x20 == $1 })
        else { return false }
        return line.dropFirst(name.count).split(separator: UInt8(ascii: ",")).contains { coding in
            let isSpace: (UInt8) -> Bool = { $0 <= 0x20 }
            let word = coding.drop(while: isSpace).reversed().drop(while: isSpace).reversed().map { $0 | 0x20 }
            return !accepted.contains(word)
        }
    }
}
