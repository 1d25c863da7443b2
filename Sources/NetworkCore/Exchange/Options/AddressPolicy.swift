/// A rule for the addresses that a request may connect to, whatever host names it contains. Use a policy to keep
/// requests to URLs from outside sources away from your own network. Not supported by the URLSession transport.
///
/// The policy checks each address that a name resolves to, just before the connection is made, so that a name that
/// changes its address gains nothing. Only requests with the same policy share a connection, so a kept one leads to an
/// allowed address; a custom policy is the same as its copies alone. A refused exchange fails with
/// ``NetworkError/Code/addressRefused``. A request with a policy other than ``any`` goes directly to the server and
/// bypasses the environment's proxy.
public struct AddressPolicy: Sendable, Hashable {
    private enum Rule: Sendable, Hashable {
        case any
        case global
        case denying([Range])
        case custom(AddressRule)
    }

    private let rule: Rule

    /// Allows every address. The default.
    public static let any = AddressPolicy(rule: .any)
    /// Allows only addresses of the public internet: no loopback, private, link-local, shared, multicast, documentation
    /// or reserved addresses ([RFC 6890](https://www.rfc-editor.org/rfc/rfc6890)). Of IPv6, allows only addresses in
    /// `2000::/3` and behind NAT64 (`64:ff9b::/96`). An IPv4 address within an IPv6 address (mapped, NAT64, 6to4,
    /// ISATAP) must be public too.
    ///
    /// A NAT64 with a network-specific prefix can't be distinguished from any other network. Deny its prefix.
    public static let noPrivateRanges = AddressPolicy(rule: .global)
    /// Allows every address outside the given ranges, except IPv6 addresses that contain an IPv4 address from one of
    /// them: mapped, compatible, translated, NAT64 (`64:ff9b::/96`, `64:ff9b:1::/48`), 6to4, ISATAP and Teredo.
    public static func denying(_ ranges: [Range]) -> AddressPolicy {
        AddressPolicy(rule: ranges.isEmpty ? .any : .denying(ranges))
    }
    /// Allows the addresses for which `isAllowed` returns `true`.
    ///
    /// The closure runs on the transport's thread and must return at once. An IPv4 address written as an IPv6 address
    /// (`::ffff:10.0.0.1`) is passed as the IPv4 address. Two custom policies are equal only if one is a copy of the
    /// other.
    public static func custom(_ isAllowed: @escaping @Sendable (Address) -> Bool) -> AddressPolicy {
        AddressPolicy(rule: .custom(AddressRule(isAllowed)))
    }

    /// Returns whether the policy allows connecting to an address.
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
        ([address] + address.embeddedIPv4).contains { address in
            ranges.contains { $0.contains(address) }
        }
    }
}

/// A closure with an identity, so that policies stay comparable.
private final class AddressRule: Sendable, Hashable {
    let isAllowed: @Sendable (AddressPolicy.Address) -> Bool

    init(_ isAllowed: @escaping @Sendable (AddressPolicy.Address) -> Bool) { self.isAllowed = isAllowed }

    static func == (left: AddressRule, right: AddressRule) -> Bool { left === right }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension AddressPolicy.Range {
    /// The public internet in IPv6: global unicast as far as IANA has allocated it, and IPv4 behind NAT64.
    fileprivate static let global = ["2000::/3", "64:ff9b::/96"].compactMap { try? AddressPolicy.Range($0) }

    /// The ranges of RFC 6890 and its successors, for IPv4 and within ``global``.
    fileprivate static let notPublic: [AddressPolicy.Range] = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4", "2001::/23", "2001:db8::/32", "3fff::/20",
    ].compactMap { try? AddressPolicy.Range($0) }
}
