/// A list of hosts to reach without the proxy, of the environment or of an option. Pure.
///
/// It decides alone, and libcurl ([CURLOPT_NOPROXY](https://curl.se/libcurl/c/CURLOPT_NOPROXY.html)) gets no list: its
/// answer depends on its version, and it compares the host of its URL, which is another one where a request sets
/// `tls.serverName`.
package struct ProxyExceptions: Sendable {
    private let entries: [String]

    package init(_ list: String) {
        entries = list.split { $0 == "," || $0 == " " || $0 == "\t" }.map { $0.lowercased() }
    }

    /// Returns whether the list names a host, given as a URL has it.
    package func contains(_ host: String) -> Bool {
        if entries.contains("*") { return true }
        let host = Self.plain(host.lowercased())
        if let address = AddressPolicy.Address(host) {
            return entries.contains { entry in
                (try? AddressPolicy.Range(Self.plain(entry)))?.contains(address) ?? false
            }
        }
        return entries.contains { entry in
            let name = Self.plain(entry.hasPrefix(".") ? String(entry.dropFirst()) : entry)
            return !name.isEmpty && (host == name || host.hasByteSuffix("." + name))
        }
    }

    /// Returns a host without brackets and without the dot of a complete name.
    private static func plain(_ host: String) -> String {
        let name = withoutBrackets(host)
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }

    /// Returns a host without the brackets of an IPv6 address.
    package static func withoutBrackets(_ host: String) -> String {
        host.hasBytePrefix("[") && host.hasByteSuffix("]") ? String(host.dropFirst().dropLast()) : host
    }
}
