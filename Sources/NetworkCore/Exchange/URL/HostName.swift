/// The host of a URL: a name, an IPv4 address of four decimal numbers, or an IPv6 address.
enum HostName {
    /// Checks the text between `[` and `]` and returns the host with brackets, in lower case.
    static func ipv6(_ slice: ArraySlice<UInt8>) throws -> String {
        let text = String(decoding: slice, as: UTF8.self)
        if text.utf8.contains(UInt8(ascii: "%")) {
            throw NetworkError.unusableURL("IPv6 zones are not accepted in a URL")
        }
        guard NumericAddress.bytes(of: text)?.count == 16 else {
            throw NetworkError.unusableURL("the text in brackets is not an IPv6 address")
        }
        return "[\(text.lowercased())]"
    }

    /// Returns a name or an IPv4 address in lower case and in ASCII.
    static func name(_ slice: ArraySlice<UInt8>, at start: Int) throws -> String {
        guard !slice.isEmpty else { throw NetworkError.unusableURL("the host is missing") }
        var isASCII = true
        for (offset, byte) in slice.enumerated() where !isOfName(byte) {
            guard byte >= 0x80 else {
                throw NetworkError.unusableURL(
                    "'\(Character(Unicode.Scalar(byte)))' in the host, at byte \(start + offset)")
            }
            isASCII = false
        }
        if isASCII { return try checked(slice) }
        // The mapping of other characters can produce anything: separators, numbers, nothing. The result is therefore
        // checked like any other host.
        let ascii = Array(try InternationalName.ascii(slice).utf8)
        guard ascii.allSatisfy(isOfName) else {
            throw NetworkError.unusableURL("the host is not a name: it has characters that map to separators")
        }
        let host = try checked(ascii[...])
        if HostName.isAddress(host) {
            throw NetworkError.unusableURL("the host is an address written in other characters than ASCII")
        }
        return host
    }

    static func isAddress(_ host: String) -> Bool {
        host.hasBytePrefix("[") || host.utf8.allSatisfy { $0.isDigit || $0 == UInt8(ascii: ".") }
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || "-._~".utf8.contains(byte)
    }

    private static func checked(_ slice: ArraySlice<UInt8>) throws -> String {
        guard slice.count <= 254 else { throw NetworkError.unusableURL("the host is longer than 253 characters") }
        let host = String(decoding: slice, as: UTF8.self).lowercased()
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        let named = labels.last == "" ? labels.dropLast() : labels[...]
        if named.isEmpty || named.contains("") { throw NetworkError.unusableURL("the host has an empty label") }
        if named.contains(where: { $0.utf8.count > 63 }) {
            throw NetworkError.unusableURL("a label of the host is longer than 63 characters")
        }
        if let last = named.last, last.utf8.allSatisfy(\.isDigit) || last.hasPrefix("0x") {
            let isDottedQuad =
                named.count == 4 && labels.count == 4
                && named.allSatisfy { (UInt8($0) != nil) && ($0 == "0" || !$0.hasPrefix("0")) }
            guard isDottedQuad else {
                throw NetworkError.unusableURL(
                    "the host looks like a number; an IPv4 address has four decimal numbers")
            }
        }
        return host
    }
}
