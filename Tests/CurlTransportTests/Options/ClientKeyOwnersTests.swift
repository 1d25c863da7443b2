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
        #expect(owners.isOwner(first))
        for other in [
            Certificate(file, key: .file("/client.key"), password: "two"), Certificate(file, key: .file("/client.key")),
            Certificate(file, key: .file("/other.key"), password: "one"), Certificate(file, password: "one"),
            Certificate(file, key: .bytes(Data("/client.key".utf8)), password: "one"),
        ] {
            #expect(!owners.isOwner(other))
        }
        #expect(owners.isOwner(first))
    }

    @Test func `other certificates have owners of their own`() {
        let owners = ClientKeyOwners()
        #expect(owners.isOwner(Certificate(file, password: "one")))
        #expect(owners.isOwner(Certificate(.file("/other.pem"), password: "two")))
        #expect(owners.isOwner(Certificate(.bytes(Data("/client.pem".utf8)), password: "two")))
    }

    @Test func `a password in other bytes is another password`() {
        let owners = ClientKeyOwners()
        #expect(owners.isOwner(Certificate(file, password: "\u{E9}")))
        #expect(!owners.isOwner(Certificate(file, password: "e\u{301}")))
    }

    @Test func `one certificate too many shares nothing`() {
        let owners = ClientKeyOwners()
        for number in 0..<1_024 { #expect(owners.isOwner(Certificate(.file("\(number)")))) }
        #expect(!owners.isOwner(Certificate(.file("one more"))))
        #expect(owners.isOwner(Certificate(.file("0"))))
    }
}
