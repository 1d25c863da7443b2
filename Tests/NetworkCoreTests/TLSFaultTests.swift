import Testing

@testable import NetworkCore

@Suite("TLS faults by their error text")
struct TLSFaultTests {
    @Test(arguments: [
        ("SSL certificate problem: certificate has expired", NetworkError.Code.certificateExpired),
        ("SSL certificate problem: certificate is not yet valid", .certificateNotYetValid),
        ("SSL: no alternative certificate subject name matches target host name 'localhost'", .certificateHostMismatch),
        (
            "SSL: certificate subject name 'elsewhere' does not match target host name 'localhost'",
            .certificateHostMismatch
        ),
        ("SSL certificate problem: self-signed certificate", .certificateSelfSigned),
        ("SSL certificate problem: self signed certificate", .certificateSelfSigned),
        ("SSL certificate problem: self-signed certificate in certificate chain", .certificateUntrusted),
        ("SSL certificate problem: unable to get local issuer certificate", .certificateUntrusted),
        ("server certificate verification failed. CAfile: none CRLfile: none", .certificateUntrusted),
        (
            "server verification failed: certificate signer not trusted. (CAfile: a.pem CRLfile: none)",
            .certificateUntrusted
        ),
        ("unable to set private key file: 'client.key' type PEM", .clientCertificateUnusable),
        (
            "error reading X.509 potentially-encrypted key file: Decryption has failed.", .clientCertificateUnusable
        ),
        ("SSL certificate problem: certificate revoked", .certificateRevoked),
        ("SSL: public key does not match pinned public key", .pinnedKeyMismatch),
        ("TLS connect error: error:0A000102:SSL routines::unsupported protocol", .tlsVersionRefused),
        ("error:0A00042E:SSL routines::tlsv1 alert protocol version", .tlsVersionRefused),
        (
            "OpenSSL SSL_read: error:0A00045C:SSL routines::tlsv13 alert certificate required",
            .clientCertificateRequired
        ),
        ("OpenSSL SSL_read: error:0A000418:SSL routines::tlsv1 alert unknown ca", .clientCertificateRefused),
        ("error:0A000415:SSL routines::sslv3 alert certificate expired", .clientCertificateRefused),
    ])
    func `libcurl's words have a code`(words: String, code: NetworkError.Code) {
        #expect(TLSFault.code(for: words) == code)
        #expect(code.isTLS)
        #expect(TLSFault.sentence(for: code) != TLSFault.sentence(for: .tlsFailed))
    }

    @Test(arguments: ["error:0A00010B:SSL routines::wrong version number", "sslv3 alert handshake failure", ""])
    func `words that do not tell leave the code open`(words: String) { #expect(TLSFault.code(for: words) == nil) }

    @Test func `other codes are not of TLS`() {
        for code in [NetworkError.Code.connectFailed, .connectionLost, .proxyFailed, .unclassified] {
            #expect(!code.isTLS)
        }
        #expect(NetworkError.Code.tlsFailed.isTLS)
    }
}
