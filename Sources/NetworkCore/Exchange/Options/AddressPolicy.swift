/// Which addresses may be connected to, whatever names a request has: the way to keep requests whose URLs come from
/// others off your own network. Not for URLSession.
///
/// It is asked for each address that a name resolves to, just before the connection is made, so that a name which
/// changes its mind gains nothing, and again when a kept connection would carry the request (below libcurl 7.80 each
/// request makes a connection of its own instead). A refused exchange fails with ``NetworkError/Code/addressRefused``.
/// A request with a policy goes straight to the server, past the environment's proxy.
public struct AddressPolicy: Sendable, Hashable {
    private enum Rule: Sendable, Hashable {
        case any
        case global
        case denying([Range])
        case custom(AddressRule)
    }

    private let rule: Rule

    /// Every address.
    public static let any = AddressPolicy(rule: .any)
    /// Addresses of the public internet alone: no loopback, private, link-local, shared, multicast, documentation or
    /// reserved ones (RFC 6890). Of IPv6, those below `2000::/3` and behind NAT64 (`64:ff9b::/96`) alone. An IPv4
    /// address within an IPv6 one (mapped, NAT64, 6to4, ISATAP) has to be public too.
    ///
    /// A NAT64 with a prefix of the network's own can't be told from any other network: deny its prefix.
    public static let noPrivateRanges = AddressPolicy(rule: .global)
    /// Every address but those, and but IPv6 addresses that hold one of those in IPv4.
    public static func denying(_ ranges: [Range]) -> AddressPolicy {
        AddressPolicy(rule: .denying(ranges))
    }
    /// The addresses for which `isAllowed` returns `true`. It is called on the transport's thread and must return at
    /// once. An IPv4 address that is written as an IPv6 one (`::ffff:10.0.0.1`) comes as the IPv4 address that it is.
    /// Two custom policies are equal if they are copies of the same one.
    public static func custom(_ isAllowed: @escaping @Sendable (Address) -> Bool) -> AddressPolicy {
        AddressPolicy(rule: .custom(AddressRule(isAllowed)))
    }

    /// Whether an address may be connected to.
    public func allows(_ address: Address) -> Bool {
        switch rule {
        case .any: return true
        case .custom(let rule): return rule.isAllowed(address.unmapped)
        case .global:
            let address = address.unmapped
            let isGlobal = address.bytes.count == 4 || Range.global.contains { $0.contains(address) }
            return isGlobal && !Self.isHeld(address, by: Range.notPublic)
        case .denying(let ranges): return !Self.isHeld(address, by: ranges)
        }
    }

    private static func isHeld(_ address: Address, by ranges: [Range]) -> Bool {
        [address, address.embeddedIPv4].compactMap(\.self).contains { address in
            ranges.contains { $0.contains(address) }
        }
    }
}

/// A closure that is equal to itself.
private final class AddressRule: Sendable, Hashable {
    let isAllowed: @Sendable (AddressPolicy.Address) -> Bool

    init(_ isAllowed: @escaping @Sendable (AddressPolicy.Address) -> Bool) { self.isAllowed = isAllowed }

    static func == (left: AddressRule, right: AddressRule) -> Bool { left === right }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension AddressPolicy.Range {
    /// What IPv6 has of the public internet: global unicast as far as IANA gives it out, and IPv4 by NAT64.
    fileprivate static let global = ["2000::/3", "64:ff9b::/96"].compactMap { try? AddressPolicy.Range($0) }

    /// RFC 6890 and its successors, of IPv4 and of ``global``.
    fileprivate static let notPublic: [AddressPolicy.Range] = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4", "2001::/23", "2001:db8::/32", "3fff::/20",
    ].compactMap { try? AddressPolicy.Range($0) }
}
