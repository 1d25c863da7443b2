import Foundation
import NetworkCore
import Testing

@testable import CurlTransport

@Suite("Owners of spellings of TLS settings")
struct TLSTextOwnersTests {
    private func settings(_ change: (inout TransportOptions.TLS) -> Void) -> TransportOptions.TLS {
        var settings = TransportOptions.TLS()
        change(&settings)
        return settings
    }

    /// Settings that libcurl treats as equal, since their texts differ only in case.
    static let pairs: [(first: TransportOptions.TLS, second: TransportOptions.TLS)] = [
        { $0.authorities = .file($1 ? "/ca.pem" : "/CA.pem") },
        { $0.authorities = .directory($1 ? "/ca" : "/Ca") },
        { $0.clientCertificate = .init(.file($1 ? "/me.pem" : "/ME.pem")) },
        { $0.pinnedPublicKeys = [$1 ? "sha256//ab" : "sha256//aB"] },
        { $0.ciphers = $1 ? "ECDHE" : "ecdhe" },
        { $0.cipherSuites = $1 ? "TLS" : "tls" },
    ].map { (change: (inout TransportOptions.TLS, Bool) -> Void) in
        var (first, second) = (TransportOptions.TLS(), TransportOptions.TLS())
        change(&first, true)
        change(&second, false)
        return (first, second)
    }

    @Test(arguments: pairs.indices)
    func `the first spelling shares, and no other`(index: Int) {
        let (first, second) = Self.pairs[index]
        let owners = TLSTextOwners()
        #expect(owners.isOwner(first))
        #expect(!owners.isOwner(second))
        #expect(owners.isOwner(first))
        // Settings that differ in another text too are distinct for libcurl as well.
        var other = second
        other.pinnedPublicKeys.append("sha256//other")
        #expect(owners.isOwner(other))
    }

    /// Regression: the authorities of a server and of a proxy counted apart, and one server may be both.
    @Test func `a server's and a proxy's texts are compared`() {
        let owners = TLSTextOwners()
        let none: [String?] = PlainOptions.all.map { _ in nil }
        #expect(owners.isOwner(settings { $0.authorities = .file("/ca.pem") }, more: none))
        #expect(!owners.isOwner(settings { $0.authorities = .file("/CA.pem") }))
    }

    @Test func `settings without a text are shared`() {
        let owners = TLSTextOwners()
        #expect(owners.isOwner(TransportOptions.TLS()))
        #expect(owners.isOwner(settings { $0.authorities = .bytes(Data("a".utf8)) }))
        #expect(owners.isOwner(settings { $0.authorities = .bytes(Data("A".utf8)) }))
    }

    @Test func `a proxy's authorities are compared too`() throws {
        let owners = TLSTextOwners()
        func request(_ path: String) throws -> TransportRequest {
            var proxy = TransportOptions.Proxy.Server("https://proxy.test")
            proxy.authorities = .file(path)
            var request = TransportRequest(url: try RequestURL("https://a.test/"))
            request.options.proxy = .explicit(proxy)
            return request
        }
        func shares(_ path: String) throws -> Bool {
            var sharing = ConnectionSharing()
            owners.add(to: &sharing, for: try request(path))
            return sharing.options.isEmpty
        }
        #expect(try shares("/ca.pem"))
        #expect(try !shares("/CA.pem"))
        #expect(!owners.isOwner(settings { $0.authorities = .file("/CA.pem") }))
        #expect(try shares("/ca.pem"))
    }

    @Test func `one setting too many shares nothing`() {
        let owners = TLSTextOwners()
        for number in 0..<1_024 { #expect(owners.isOwner(settings { $0.ciphers = "\(number)" })) }
        #expect(!owners.isOwner(settings { $0.ciphers = "one more" }))
        #expect(owners.isOwner(settings { $0.ciphers = "0" }))
    }
}
