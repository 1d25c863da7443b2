/// Bits from the lowest of each byte on, as deflate has them.
struct BitWriter {
    private(set) var bytes: [UInt8] = []
    private var used = 8

    /// How many bytes are full.
    var fullBytes: Int { used == 8 ? bytes.count : bytes.count - 1 }

    /// A number, lowest bit first.
    mutating func append(_ value: Int, count: Int) {
        for bit in 0..<count { append((value >> bit) & 1) }
    }

    /// A Huffman code, highest bit first.
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
