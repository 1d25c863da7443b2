/// A gzip container without compression (RFC 1952).
enum StoredGzip {
    static func of(_ bytes: [UInt8]) -> [UInt8] {
        var crc: UInt32 = ~0
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? (crc >> 1) ^ 0xEDB8_8320 : crc >> 1 }
        }
        let length = UInt16(bytes.count)
        var out: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255, 1]
        out += [UInt8(length & 0xFF), UInt8(length >> 8), UInt8(~length & 0xFF), UInt8(~length >> 8)] + bytes
        for value in [~crc, UInt32(bytes.count)] { out += (0..<4).map { UInt8(value >> ($0 * 8) & 0xFF) } }
        return out
    }
}
