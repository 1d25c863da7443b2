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
        case custom(Identified<@Sendable (Address) -> Bool>)
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
        AddressPolicy(rule: .custom(Identified(isAllowed)))
    }

    /// Returns whether the policy allows connecting to an address.
    public func allows(_ address: Address) -> Bool {
        switch rule {
        case .any: return true
        case .custom(let rule): return rule.value(address.unmapped)
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

extension AddressPolicy {
    /// An IPv4 or IPv6 address.
    public struct Address: Sendable, Hashable, CustomStringConvertible {
        /// The address in network byte order: 4 bytes for IPv4, 16 for IPv6.
        public let bytes: [UInt8]

        /// Creates an address from its bytes, or returns `nil` unless there are 4 or 16.
        public init?(bytes: [UInt8]) {
            guard bytes.count == 4 || bytes.count == 16 else { return nil }
            self.bytes = bytes
        }

        /// Parses an address in its usual notation, without brackets, or returns `nil` if the text is not an address. A
        /// zone (`%eth0`) is ignored.
        public init?(_ text: String) {
            // A zone names an interface, not another address.
            guard let bytes = NumericAddress.bytes(of: String(text.prefix { $0 != "%" })) else { return nil }
            self.bytes = bytes
        }

        /// The address in its usual notation, without brackets or abbreviation.
        public var description: String {
            if bytes.count == 4 { return bytes.map { "\($0)" }.joined(separator: ".") }
            let groups = stride(from: 0, to: 16, by: 2).map { Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]) }
            return groups.map { String($0, radix: 16) }.joined(separator: ":")
        }

        /// The IPv4 address if this is a mapped one (`::ffff:10.0.0.1`), or else the address itself.
        var unmapped: Address {
            isMapped ? Address(bytes: Array(bytes[12...])) ?? self : self
        }

        fileprivate var isMapped: Bool {
            bytes.count == 16 && bytes[..<12].elementsEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF])
        }

        /// The IPv4 addresses within an IPv6 address: mapped, compatible, translated (SIIT), NAT64, 6to4, ISATAP or
        /// Teredo.
        var embeddedIPv4: [Address] {
            guard bytes.count == 16 else { return [] }
            if bytes[0] == 0x20, bytes[1] == 0x02 { return [Address(bytes: Array(bytes[2..<6]))].compactMap(\.self) }
            // The server's address, and the client's with all bits inverted (RFC 4380 §4).
            if bytes[..<4].elementsEqual([0x20, 0x01, 0, 0]) {
                return [Array(bytes[4..<8]), bytes[12...].map { ~$0 }].compactMap { Address(bytes: $0) }
            }
            let isCompatible = bytes[..<12].allSatisfy { $0 == 0 }
            let isTranslated = bytes[..<12].elementsEqual([0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0])
            let isNAT64 = bytes[..<12].elementsEqual([0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0])
            // Of a network's own (RFC 8215), with the address at the end or after 48 bits (RFC 6052 §2.2).
            if bytes[..<6].elementsEqual([0, 0x64, 0xFF, 0x9B, 0, 1]) {
                return [Array(bytes[12...]), Array(bytes[6..<8] + bytes[9..<11])].compactMap { Address(bytes: $0) }
            }
            // The fourth group is 0, or 200 for a globally unique address.
            let isISATAP = bytes[8] & ~2 == 0 && bytes[9..<12].elementsEqual([0, 0x5E, 0xFE])
            guard isMapped || isCompatible || isTranslated || isNAT64 || isISATAP else { return [] }
            return [Address(bytes: Array(bytes[12...]))].compactMap(\.self)
        }
    }

    /// A range of addresses in CIDR notation, such as `10.0.0.0/8` or `fc00::/7`. Without a `/`, a single address.
    ///
    /// A range of IPv4 addresses written as IPv6 addresses (`::ffff:10.0.0.0/104`,
    /// [RFC 4291 §2.5.5.2](https://www.rfc-editor.org/rfc/rfc4291#section-2.5.5.2)) becomes the range of the IPv4
    /// addresses: `10.0.0.0/8`.
    public struct Range: Sendable, Hashable {
        /// The first address of the range.
        public let base: Address
        /// The number of leading bits that all addresses of the range share.
        public let prefixLength: Int

        /// Parses a range in CIDR notation.
        /// - Throws: ``NetworkError/Code/invalidOption`` if the text is not a range.
        public init(_ text: String) throws {
            let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            guard let base = Address(String(parts[0])), !parts[0].contains("%") else {
                throw OptionCheck.invalid("the address range", "is not an IP address and a prefix length")
            }
            let length = parts.count == 1 ? base.bytes.count * 8 : Int(parts[1]) ?? -1
            guard (0...base.bytes.count * 8).contains(length) else {
                throw OptionCheck.invalid("the address range", "has a prefix length out of range")
            }
            let isIPv4 = base.isMapped && length >= 96
            self.base = isIPv4 ? base.unmapped : base
            prefixLength = isIPv4 ? length - 96 : length
        }

        /// Returns whether the range contains an address. A mapped address is checked both as IPv6 and as IPv4;
        /// otherwise the families are separate.
        public func contains(_ address: Address) -> Bool { holds(address) || holds(address.unmapped) }

        private func holds(_ address: Address) -> Bool {
            guard address.bytes.count == base.bytes.count else { return false }
            let (whole, rest) = prefixLength.quotientAndRemainder(dividingBy: 8)
            guard address.bytes[..<whole].elementsEqual(base.bytes[..<whole]) else { return false }
            return rest == 0 || (address.bytes[whole] ^ base.bytes[whole]) >> (8 - rest) == 0
        }
    }
}
