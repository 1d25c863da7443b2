/// Writes bits from the lowest bit of each byte up, the order of deflate ([RFC 1951
/// §3.1.1](https://www.rfc-editor.org/rfc/rfc1951#section-3.1.1)).
struct BitWriter {
    private(set) var bytes: [UInt8] = []
    private var used = 8

    /// The number of full bytes.
    var fullBytes: Int { used == 8 ? bytes.count : bytes.count - 1 }

    /// Appends a number, lowest bit first.
    mutating func append(_ value: Int, count: Int) {
        for bit in 0..<count { append((value >> bit) & 1) }
    }

    /// Appends a Huffman code, highest bit first.
    mutating func appendCode(_ code: Int, count: Int) {
        for bit in (0..<count).reversed() { append((code >> bit) & 1) }
    }

    private mutating func append(_ bit: Int) {
        if used == 8 {
            bytes.append(0)
            used = 0
        }
        bytes[bytes.count - 1] |= UInt8(bit << used)
        used += 1
    }
}
