import CLibrary

/// A parser for numeric addresses, by the rules of the C library's `inet_pton`.
enum NumericAddress {
    /// Returns the 4 bytes of an IPv4 address or the 16 bytes of an IPv6 address, or `nil` for other text.
    static func bytes(of text: String) -> [UInt8]? {
        let isIPv6 = text.utf8.contains(UInt8(ascii: ":"))
        guard !text.utf8.contains(0) else { return nil }
        var bytes = [UInt8](repeating: 0, count: isIPv6 ? 16 : 4)
        guard unsafe inet_pton(isIPv6 ? AF_INET6 : AF_INET, text, &bytes) == 1 else { return nil }
        return bytes
    }
}
