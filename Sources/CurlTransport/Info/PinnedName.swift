import NetworkCore

/// The names under which libcurl knows pinned addresses (CURLOPT_RESOLVE).
///
/// Entries of CURLOPT_RESOLVE go into the name cache of the whole multi handle and would serve every other request. So
/// the addresses get a name made of them and of a secret of the process, which no other request can use.
enum PinnedName {
    /// The process's secret, which keeps a foreign URL from naming pinned addresses.
    static let secret = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
    /// The text before the secret, by which even a part of the secret is recognized.
    private static let marker = ".nl-pinned-"
    private static let end = ".static.invalid"
    private static let suffix = "\(marker)\(secret)\(end)"

    /// Returns a name that stands for these addresses and no others: `127-0-0-1.xx1.nl-pinned-….static.invalid`.
    static func name(for addresses: [String]) -> String {
        let labels = addresses.map { $0.lowercased().map { $0 == "." ? "-" : $0 == ":" ? "x" : String($0) }.joined() }
        let shown = labels.joined(separator: ".")
        // libcurl takes names of 255 bytes in CURLOPT_RESOLVE.
        guard shown.utf8.count + suffix.utf8.count > 250 else { return shown + suffix }
        let digest = SHA256Checksum.digest(Array(shown.utf8)).hexadecimal
        return "\(digest.prefix(32)).\(digest.suffix(32))\(suffix)"
    }

    /// Returns whether a URL's host is such a name.
    static func isOne(_ host: String) -> Bool {
        host.utf8.count > suffix.utf8.count && host.lowercased().hasSuffix(suffix)
    }

    /// Returns a text of libcurl's without the secret; of the name, only the addresses are left. libcurl truncates its
    /// texts, so what follows the marker is hidden however short it is.
    static func hidden(in text: String) -> String {
        let (bytes, folded) = (Array(text.utf8), Array(text.lowercasedASCII.utf8)[...])
        var (shown, at) = ([UInt8](), 0)
        while let start = folded[at...].firstRange(of: marker.utf8) {
            shown += bytes[at..<start.lowerBound]
            let rest = folded[start.upperBound...].drop { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) }
            at = rest.startIndex + zip(rest, end.utf8).prefix { $0 == $1 }.count
        }
        let text = shown.isEmpty && at == 0 ? text : String(decoding: shown + bytes[at...], as: UTF8.self)
        return text.replacing(secret, with: "…")
    }
}
