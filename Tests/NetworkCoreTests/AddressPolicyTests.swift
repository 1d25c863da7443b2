import NetworkCore
import Testing

@Suite("Address policies")
struct AddressPolicyTests {
    @Test(arguments: [
        "127.0.0.1", "127.255.255.255", "0.0.0.0", "10.1.2.3", "100.64.0.1", "169.254.169.254", "172.16.0.1",
        "172.31.255.255", "192.168.1.1", "198.18.0.1", "198.51.100.7", "203.0.113.7", "224.0.0.1", "255.255.255.255",
        "192.0.0.8", "192.0.2.1", "::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::a00:1",
        "64:ff9b:1::1", "2002:7f00:1::", "2001:db8::1", "fc00::1", "fdff::1", "fe80::1", "fe80::1%lo", "febf::1",
        "fec0::1", "ff02::1", "100::1",
    ])
    func whatIsNotPublicIsRefused(address: String) throws {
        #expect(!AddressPolicy.noPrivateRanges.allows(try #require(IPAddress(address))))
        #expect(AddressPolicy.any.allows(try #require(IPAddress(address))))
    }

    @Test(arguments: [
        "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.1",
        "172.15.255.255", "172.32.0.0", "192.167.255.255", "223.255.255.255", "2606:4700::1111", "::ffff:1.1.1.1",
        "64:ff9b::101:101", "2a00::1",
    ])
    func whatIsPublicIsAllowed(address: String) throws {
        #expect(AddressPolicy.noPrivateRanges.allows(try #require(IPAddress(address))))
    }

    @Test(arguments: ["", "1.2.3", "1.2.3.256", "01.2.3.4", "::g", "[::1]", "a", "1.2.3.4\0"])
    func whatIsNoAddressIsNone(text: String) { #expect(IPAddress(text) == nil) }

    @Test(arguments: ["10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/-1", "x/8", ""])
    func whatIsNoRangeIsRefused(text: String) {
        let error = #expect(throws: NetworkError.self) { try AddressRange(text) }
        #expect(error?.code == .invalidOption)
    }

    @Test func rangesHoldWhatTheirBitsSay() throws {
        let range = try AddressRange("10.1.2.128/25")
        #expect(range.contains(try #require(IPAddress("10.1.2.255"))))
        #expect(!range.contains(try #require(IPAddress("10.1.2.127"))))
        #expect(!range.contains(try #require(IPAddress("::1"))))
        #expect(try AddressRange("0.0.0.0/0").contains(try #require(IPAddress("9.9.9.9"))))
        #expect(try AddressRange("::1").contains(try #require(IPAddress("::1"))))
        #expect(!(try AddressRange("::1").contains(try #require(IPAddress("::2")))))
    }

    @Test func customPoliciesDecide_AndEqualTheirCopies() throws {
        let policy = AddressPolicy.custom { $0.description == "1.2.3.4" }
        #expect(policy.allows(try #require(IPAddress("1.2.3.4"))))
        #expect(!policy.allows(try #require(IPAddress("1.2.3.5"))))
        let copy = policy
        #expect(copy == policy)
        #expect(policy != AddressPolicy.custom { _ in true })
    }
}
