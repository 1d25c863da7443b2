import Foundation
import NetworkLayer
import TestSupport
import Testing

@testable import CurlTransport

/// The loop's transfers share TLS sessions, and a resumed session skips the check of certificates. So everything that
/// affects that check must be equal. `/session` responds with `r` for a resumed session, and with the client's name.
@Suite(.enabled(if: Peers.tlsPort != nil, Peers.absence(of: Peers.tlsVariable)), .patience(minutes: 3))
struct TLSSessionTests {
    /// A request with a connection of its own.
    struct Kind: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let change: @Sendable (inout TransportOptions) throws -> Void

        init(_ description: String, change: @escaping @Sendable (inout TransportOptions) throws -> Void) {
            testDescription = description
            self.change = change
        }

        func outcome(over dispatcher: CurlNetworkDispatcher, _ newest: TransportOptions.TLS.Version) async throws
            -> String
        {
            do {
                let url = try Peers.url(.optionalCertificate, "/session")
                let exchange = try await Exchange(url, over: dispatcher) {
                    $0.tls.maximumVersion = newest
                    $0.connection.forbidsReuse = true
                    try change(&$0)
                }
                return "\(exchange.status) \(exchange.text)"
            } catch let error as NetworkError {
                return error.code.rawValue
            }
        }
    }

    static let kinds = [
        Kind("trusts the authority") { $0.trustPeers() },
        Kind("trusts the system's authorities") { _ in },
        Kind("trusts another authority") { $0.tls.authorities = .file(Peers.tlsFolder + "/self.pem") },
        Kind("trusts another authority, whose file differs in case alone") {
            $0.tls.authorities = .file(Peers.tlsFolder + "/CA.pem")
        },
        Kind("the same authority from memory") { $0.tls.authorities = .bytes(try Peers.tlsFile("ca.pem")) },
        Kind("one of the pinned keys") {
            $0.trustPeers()
            $0.tls.pinnedPublicKeys = [String(decoding: try Peers.tlsFile("good.pin"), as: UTF8.self)]
        },
        Kind("another key is pinned") {
            $0.trustPeers()
            $0.tls.pinnedPublicKeys = ["sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]
        },
        Kind("another server name") {
            $0.trustPeers()
            $0.tls.serverName = "other.test"
        },
        Kind("a name that the certificate lacks") {
            $0.trustPeers()
            $0.tls.serverName = "absent.test"
        },
        Kind("other ciphers") {
            $0.trustPeers()
            $0.tls.ciphers = "ECDHE-ECDSA-AES256-GCM-SHA384"
            $0.tls.cipherSuites = "TLS_CHACHA20_POLY1305_SHA256"
        },
        Kind("a client certificate") {
            $0.trustPeers()
            $0.tls.clientCertificate = .init(
                .file(Peers.tlsFolder + "/client.pem"), key: .file(Peers.tlsFolder + "/client.key"),
                password: "open sesame")
        },
        Kind("a client certificate whose key stays locked") {
            $0.trustPeers()
            $0.tls.clientCertificate = .init(
                .file(Peers.tlsFolder + "/client.pem"), key: .file(Peers.tlsFolder + "/client.locked"),
                password: "tooguessable")
        },
    ]

    @Test(arguments: kinds.filter { $0.testDescription == "trusts the authority" }, newest)
    func `a session is resumed by a request with the same options`(
        kind: Kind, newest: TransportOptions.TLS.Version
    ) async throws {
        let dispatcher = CurlNetworkDispatcher()
        #expect(try await kind.outcome(over: dispatcher, newest) == "200 . ")
        #expect(try await kind.outcome(over: dispatcher, newest) == "200 r ")
    }

    @Test(arguments: kinds, newest)
    func `no session of a request is resumed by one with other options`(
        later: Kind, newest: TransportOptions.TLS.Version
    ) async throws {
        let fresh = CurlNetworkDispatcher()
        let alone = try await later.outcome(over: fresh, newest)
        await fresh.shutDown(within: .zero)
        for earlier in Self.kinds where earlier.testDescription != later.testDescription {
            let dispatcher = CurlNetworkDispatcher()
            _ = try await earlier.outcome(over: dispatcher, newest)
            let after = try await later.outcome(over: dispatcher, newest)
            #expect(after == alone, "after one of the kind '\(earlier.testDescription)'")
        }
    }

    private static let newest = [TransportOptions.TLS.Version.tls1_2, .tls1_3]
}
