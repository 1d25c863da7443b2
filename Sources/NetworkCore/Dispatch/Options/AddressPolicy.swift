/// Which addresses may be connected to, whatever names a request has: the way to keep requests whose URLs come from
/// others off your own network. Not for URLSession.
///
/// It is asked for each address that a name resolves to, just before the connection is made, so that a name which changes
/// its mind gains nothing, and again when a kept connection would carry the request (below libcurl 7.80 each request
/// makes a connection of its own instead). A refused exchange fails with ``NetworkError/Code/addressRefused``. A request
/// with a policy goes straight to the server, past the environment's proxy.
public struct AddressPolicy: Sendable, Hashable {
    private enum Rule: Sendable, Hashable {
        case any
        case denying([AddressRange])
        case custom(AddressRule)
    }

    private let rule: Rule

    /// Every address.
    public static let any = AddressPolicy(rule: .any)
    /// Addresses of the public internet alone: no loopback, private, link-local, shared, multicast, documentation or
    /// reserved ones (RFC 6890), also not within IPv6 addresses that hold an IPv4 one.
    public static let noPrivateRanges = AddressPolicy(rule: .denying(AddressRange.notPublic))
    /// Every address but those.
    public static func denying(_ ranges: [AddressRange]) -> AddressPolicy { AddressPolicy(rule: .denying(ranges)) }
    /// The addresses for which `isAllowed` returns `true`. It is called on the transport's thread and must return at once.
    /// Two custom policies are equal if they are copies of the same one.
    public static func custom(_ isAllowed: @escaping @Sendable (IPAddress) -> Bool) -> AddressPolicy {
        AddressPolicy(rule: .custom(AddressRule(isAllowed)))
    }

    /// Whether an address may be connected to.
    public func allows(_ address: IPAddress) -> Bool {
        switch rule {
        case .any: return true
        case .custom(let rule): return rule.isAllowed(address)
        case .denying(let ranges):
            let both = [address, address.embeddedIPv4].compactMap(\.self)
            return !both.contains { address in ranges.contains { $0.contains(address) } }
        }
    }
}

/// A closure that is equal to itself.
private final class AddressRule: Sendable, Hashable {
    let isAllowed: @Sendable (IPAddress) -> Bool

    init(_ isAllowed: @escaping @Sendable (IPAddress) -> Bool) { self.isAllowed = isAllowed }

    static func == (left: AddressRule, right: AddressRule) -> Bool { left === right }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension AddressRange {
    /// RFC 6890 and its successors.
    fileprivate static let notPublic: [AddressRange] = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4", "::/127", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "3fff::/20",
        "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
    ].compactMap { try? AddressRange($0) }
}
