import Foundation
import NetworkCore
import Testing

@testable import CurlTransport

@Suite("Owners of a client certificate's connections")
struct ClientKeyOwnersTests {
    private typealias Certificate = TransportOptions.TLS.ClientCertificate
    private let file = TransportOptions.TLS.Source.file("/client.pem")

    @Test func `the first key and password share, and no others`() {
        let owners = ClientKeyOwners()
        let first = Certificate(file, key: .file("/client.key"), password: "one")
        #expect(owners.claim(for: first) != nil)
        for other in [
            Certificate(file, key: .file("/client.key"), password: "two"), Certificate(file, key: .file("/client.key")),
            Certificate(file, key: .file("/other.key"), password: "one"), Certificate(file, password: "one"),
            Certificate(file, key: .bytes(Data("/client.key".utf8)), password: "one"),
        ] {
            #expect(owners.claim(for: other) == nil)
        }
        #expect(owners.claim(for: first) != nil)
    }

    @Test func `other certificates have owners of their own`() {
        let owners = ClientKeyOwners()
        #expect(owners.claim(for: Certificate(file, password: "one")) != nil)
        #expect(owners.claim(for: Certificate(.file("/other.pem"), password: "two")) != nil)
        #expect(owners.claim(for: Certificate(.bytes(Data("/client.pem".utf8)), password: "two")) != nil)
    }

    @Test func `a password in other bytes is another password`() {
        let owners = ClientKeyOwners()
        #expect(owners.claim(for: Certificate(file, password: "\u{E9}")) != nil)
        #expect(owners.claim(for: Certificate(file, password: "e\u{301}")) == nil)
    }

    @Test func `one certificate too many shares nothing`() {
        let owners = ClientKeyOwners()
        for number in 0..<1_024 { #expect(owners.claim(for: Certificate(.file("\(number)"))) != nil) }
        #expect(owners.claim(for: Certificate(.file("one more"))) == nil)
        #expect(owners.claim(for: Certificate(.file("0"))) != nil)
    }
}
