/// The names by which libcurl knows pinned addresses (CURLOPT_RESOLVE).
///
/// Its entries go into the name cache of the whole multi handle and would serve every other request. So the addresses
/// are given to a name made of them and of a secret of the process, for which no other request can ask.
enum PinnedName {
    /// No URL that a stranger makes names it.
    static let secret = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
    private static let suffix = ".\(secret).static.invalid"

    /// A name that stands for these addresses and no others: `127-0-0-1.xx1.….static.invalid`.
    static func name(for addresses: [String]) -> String {
        let labels = addresses.map { $0.lowercased().map { $0 == "." ? "-" : $0 == ":" ? "x" : String($0) }.joined() }
        return labels.joined(separator: ".") + suffix
    }

    /// Whether a URL's host is such a name.
    static func isOne(_ host: String) -> Bool {
        host.utf8.count > suffix.utf8.count && host.lowercased().hasSuffix(suffix)
    }

    /// Text of libcurl's without the secret: of the name, the addresses are left.
    static func hidden(in text: String) -> String {
        guard text.contains(secret) else { return text }
        return text.replacing(suffix, with: "").replacing(secret, with: "…")
    }
}
