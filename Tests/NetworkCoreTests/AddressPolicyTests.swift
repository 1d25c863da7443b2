import NetworkCore
import TestSupport
import Testing

@Suite("Address policies")
struct AddressPolicyTests {
    @Test(arguments: [
        "127.0.0.1", "127.255.255.255", "0.0.0.0", "10.1.2.3", "100.64.0.1", "169.254.169.254", "172.16.0.1",
        "172.31.255.255", "192.168.1.1", "198.18.0.1", "198.51.100.7", "203.0.113.7", "224.0.0.1", "255.255.255.255",
        "192.0.0.8", "192.0.2.1", "::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::a00:1",
        "64:ff9b:1::1", "2002:7f00:1::", "2001:db8::1", "fc00::1", "fdff::1", "fe80::1", "fe80::1%lo", "febf::1",
        "fec0::1", "ff02::1", "100::1", "::ffff:0:127.0.0.1", "::ffff:0:1.1.1.1", "2a00::5efe:127.0.0.1",
        "2a00::200:5efe:10.0.0.1", "fe80::5efe:1.1.1.1", "1fff::1", "4000::1", "5f00::1", "e000::1", "64:ff9b::7f00:1",
        "64:ff9b::1:0:1.1.1.1", "64:ff9a::1.1.1.1", "::1.1.1.1", "2001::1", "2002:a00:1::1", "3fff::1",
    ])
    func `an address that is not public is refused`(address: String) throws {
        #expect(!AddressPolicy.noPrivateRanges.allows(try #require(AddressPolicy.Address(address))))
        #expect(AddressPolicy.any.allows(try #require(AddressPolicy.Address(address))))
    }

    @Test(arguments: [
        "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.1",
        "172.15.255.255", "172.32.0.0", "192.167.255.255", "223.255.255.255", "2606:4700::1111", "::ffff:1.1.1.1",
        "64:ff9b::101:101", "2a00::1", "2000::1", "2a00::5efe:1.1.1.1", "2002:101:101::1", "3ffe::1",
    ])
    func `a public address is allowed`(address: String) throws {
        #expect(AddressPolicy.noPrivateRanges.allows(try #require(AddressPolicy.Address(address))))
    }

    @Test func `an address that is not global unicast is refused, whatever it holds`() throws {
        var generator = SeededGenerator(seed: 19)
        for _ in 0..<2_000 {
            var bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
            // Zero bytes, as frequent as in real addresses.
            for index in 2..<16 where Bool.random(using: &generator) { bytes[index] = 0 }
            guard bytes[0] & 0xE0 != 0x20 else { continue }
            let address = try #require(AddressPolicy.Address(bytes: bytes))
            #expect(!AddressPolicy.noPrivateRanges.allows(address), "\(address)")
        }
    }

    /// Regression: such a policy of a request took the place of its client's.
    @Test func `a policy that denies nothing is none`() { #expect(AddressPolicy.denying([]) == .any) }

    @Test(arguments: [
        "::ffff:10.0.0.1", "::ffff:0:10.0.0.1", "64:ff9b::10.0.0.1", "2a00::5efe:10.0.0.1", "::10.0.0.1",
        "64:ff9b:1::10.0.0.1", "64:ff9b:1:a00:0:100::", "2001:0:a00:1::1", "2001:0:1:1::f5ff:fffe", "2002:a00:1::1",
    ])
    func `a denied range is denied within IPv6`(address: String) throws {
        let policy = AddressPolicy.denying([try AddressPolicy.Range("10.0.0.0/8")])
        #expect(!policy.allows(try #require(AddressPolicy.Address(address))))
        #expect(policy.allows(try #require(AddressPolicy.Address("::ffff:11.0.0.1"))))
        let mapped = AddressPolicy.denying([try AddressPolicy.Range("::ffff:0:0/96")])
        #expect(!mapped.allows(try #require(AddressPolicy.Address("::ffff:11.0.0.1"))))
    }

    @Test func `a range that is written mapped is the IPv4 range that it is`() throws {
        let range = try AddressPolicy.Range("::ffff:127.0.0.0/104")
        #expect(try range == AddressPolicy.Range("127.0.0.0/8"))
        for address in ["127.0.0.1", "::ffff:127.0.0.1"] {
            #expect(range.contains(try #require(AddressPolicy.Address(address))))
            #expect(!AddressPolicy.denying([range]).allows(try #require(AddressPolicy.Address(address))))
        }
        #expect(!range.contains(try #require(AddressPolicy.Address("128.0.0.1"))))
        // A range wider than the mapped addresses stays an IPv6 range.
        #expect(try AddressPolicy.Range("::/80").contains(try #require(AddressPolicy.Address("::ffff:127.0.0.1"))))
    }

    @Test func `custom policies see a mapped address as the IPv4 address it is`() throws {
        let policy = AddressPolicy.custom { $0.bytes != [127, 0, 0, 1] && $0.bytes.count == 4 }
        #expect(!policy.allows(try #require(AddressPolicy.Address("::ffff:127.0.0.1"))))
        #expect(policy.allows(try #require(AddressPolicy.Address("::ffff:127.0.0.2"))))
        #expect(!policy.allows(try #require(AddressPolicy.Address("2a00::1"))))
    }

    @Test(arguments: ["", "1.2.3", "1.2.3.256", "01.2.3.4", "::g", "[::1]", "a", "1.2.3.4\0"])
    func `a text that is no address is none`(text: String) { #expect(AddressPolicy.Address(text) == nil) }

    @Test(arguments: ["10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/-1", "x/8", ""])
    func `a text that is no range is refused`(text: String) {
        let error = #expect(throws: NetworkError.self) { try AddressPolicy.Range(text) }
        #expect(error?.code == .invalidOption)
    }

    @Test func `ranges hold what their bits say`() throws {
        let range = try AddressPolicy.Range("10.1.2.128/25")
        #expect(range.contains(try #require(AddressPolicy.Address("10.1.2.255"))))
        #expect(!range.contains(try #require(AddressPolicy.Address("10.1.2.127"))))
        #expect(!range.contains(try #require(AddressPolicy.Address("::1"))))
        #expect(try AddressPolicy.Range("0.0.0.0/0").contains(try #require(AddressPolicy.Address("9.9.9.9"))))
        #expect(try AddressPolicy.Range("::1").contains(try #require(AddressPolicy.Address("::1"))))
        #expect(!(try AddressPolicy.Range("::1").contains(try #require(AddressPolicy.Address("::2")))))
    }

    @Test func `custom policies decide, and equal their copies`() throws {
        let policy = AddressPolicy.custom { $0.description == "1.2.3.4" }
        #expect(policy.allows(try #require(AddressPolicy.Address("1.2.3.4"))))
        #expect(!policy.allows(try #require(AddressPolicy.Address("1.2.3.5"))))
        let copy = policy
        #expect(copy == policy)
        #expect(policy != AddressPolicy.custom { _ in true })
    }
}
