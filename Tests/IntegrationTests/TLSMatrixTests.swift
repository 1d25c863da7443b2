import Foundation
import NetworkLayer
import NetworkTesting
import Synchronization
import TestSupport
import Testing

/// A server that the client must not accept, or that must not accept the client, with the expected error.
struct TLSFault: Sendable, CustomTestStringConvertible {
    let name: String
    let server: Peers.TLS
    let code: NetworkError.Code
    /// libcurl's error number: 35 handshake, 60 certificate, 90 pinned key.
    let curlCode: Int
    var change: @Sendable (inout TransportOptions) -> Void = { _ in }
    /// Whether the fault lies in an option of the client, which URLSession can't be given.
    var isOurs = false

    var testDescription: String { name }

    static let all = [
        TLSFault(name: "expired", server: .expired, code: .certificateExpired, curlCode: 60),
        TLSFault(name: "for another host", server: .elsewhere, code: .certificateHostMismatch, curlCode: 60),
        TLSFault(name: "self-signed", server: .selfSigned, code: .certificateSelfSigned, curlCode: 60),
        TLSFault(name: "of an unknown authority", server: .stray, code: .certificateUntrusted, curlCode: 60),
        TLSFault(name: "TLS 1.1 at most", server: .old, code: .tlsVersionRefused, curlCode: 35),
        TLSFault(
            name: "older than we want",
            server: .old,
            code: .tlsVersionRefused,
            curlCode: 35,
            change: { $0.tls.minimumVersion = .tls1_3 },
            isOurs: true
        ),
        TLSFault(
            name: "another key than the pinned one",
            server: .good,
            code: .pinnedKeyMismatch,
            curlCode: 90,
            change: { $0.tls.pinnedPublicKeys = ["sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="] },
            isOurs: true
        ),
    ]
}

@Suite(.enabled(if: Peers.tlsPort != nil, Peers.absence(of: Peers.tlsVariable)), .patience(minutes: 1))
struct TLSMatrixTests {
    @Test(arguments: TLSFault.all)
    func `a bad server is refused over curl, with an error of its own`(fault: TLSFault) async throws {
        let error = await expectFailure(fault.code) {
            try await Exchange(fault.server) {
                fault.change(&$0)
            }
        }
        #expect(error?.underlying?.code == fault.curlCode, "\(String(describing: error))")
        #expect(error?.code.isTLS == true)
        #expect(error?.phase == .connecting)
    }

    /// On Linux, URLSession knows only the system's authorities and can't be given another, so it refuses the good
    /// server too. Runs in a process of its own, since failing handshakes can block URLSession's other work.
    @Test func `every server of a private authority is refused over URLSession`() async {
        await #expect(processExitsWith: .success) {
            // Of several faults, the error names the first one found, which depends on the libcurl that URLSession
            // uses.
            let codes: [(Peers.TLS, Set<NetworkError.Code>)] = [
                (.good, [.certificateUntrusted]), (.expired, [.certificateUntrusted, .certificateExpired]),
                (.elsewhere, [.certificateUntrusted, .certificateHostMismatch]),
                (.selfSigned, [.certificateSelfSigned, .certificateUntrusted]), (.stray, [.certificateUntrusted]),
                (.old, [.certificateUntrusted, .tlsVersionRefused]), (.clientCertificate, [.certificateUntrusted]),
            ]
            for (server, fitting) in codes {
                let error = await #expect(throws: NetworkError.self) {
                    try await Exchange(Peers.url(server), over: URLSessionNetworkDispatcher.shared)
                }
                #expect(error.map { fitting.contains($0.code) } == true, "\(server): \(String(describing: error))")
            }
            let server = try ScriptedServer([.send("HTTP/1.1 400 Bad Request\r\n\r\n"), .close])
            let url = try RequestURL("https://localhost:\(server.port)/")
            await expectFailure(.tlsFailed) { try await Exchange(url, over: URLSessionNetworkDispatcher.shared) }
        }
    }

    @Test func `a server that speaks no TLS at all is refused`() async throws {
        let server = try ScriptedServer([.send("HTTP/1.1 400 Bad Request\r\n\r\n"), .close])
        defer { server.stop() }
        let url = try RequestURL("https://localhost:\(server.port)/")
        let error = await expectFailure(.tlsFailed) { try await Exchange(url) }
        #expect(error?.underlying?.code == 35)
        #expect(error?.message.contains("does not speak TLS") == true, "\(error as Any)")
    }

    @Test func `a good server responds`() async throws {
        #expect(try await Exchange(.good).text.hasPrefix("TLSv1."))
    }

    @Test func `a missing client certificate gets the server's 400 response`() async throws {
        let exchange = try await Exchange(.clientCertificate)
        #expect(exchange.status == 400)
        #expect(exchange.text.contains("No required SSL certificate"))
    }
}

/// `openssl s_server`, which ends the handshake when no client certificate arrives, where nginx responds over HTTP.
private final class InsistentServer: Sendable {
    let port: Int
    private let process: Process

    init() throws {
        let folder = Peers.tlsFolder
        let output = Pipe()
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", "\(folder)/good.pem", "-key",
            "\(folder)/good.key",
            "-CAfile", "\(folder)/ca.pem", "-Verify", "1", "-verify_return_error", "-tls1_3", "-www",
        ]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        self.process = process
        // For example, 'ACCEPT 127.0.0.1:40123'.
        var line = ""
        while !line.contains("ACCEPT") || !line.hasSuffix("\n") {
            let bytes = output.fileHandleForReading.availableData
            guard !bytes.isEmpty else { break }
            line += String(decoding: bytes, as: UTF8.self)
        }
        let words = line.split { $0.isWhitespace }.filter { $0.hasPrefix("127.0.0.1:") }
        port = try #require(words.last?.split(separator: ":").last.flatMap { Int($0) })
    }

    // The process inherits the thread's signal mask, which blocks SIGTERM.
    deinit { kill(process.processIdentifier, SIGKILL) }
}

@Suite(.enabled(if: Peers.tlsPort != nil, Peers.absence(of: Peers.tlsVariable)), .patience(minutes: 1))
struct ClientCertificateTests {
    private func exchange(
        with server: InsistentServer, _ change: (inout TransportOptions) -> Void
    ) async throws -> Exchange {
        try await Exchange(RequestURL("https://localhost:\(server.port)/"), over: CurlNetworkDispatcher()) {
            $0.trustPeers()
            change(&$0)
        }
    }

    @Test func `a missing client certificate and a refused one are different errors`() async throws {
        let server = try InsistentServer()
        let folder = Peers.tlsFolder
        let without = await expectFailure(.clientCertificateRequired) { try await exchange(with: server) { _ in } }
        #expect(without?.code.isTLS == true)
        // Issued by an authority that the server does not know.
        await expectFailure(.clientCertificateRefused) {
            try await exchange(with: server) {
                $0.tls.clientCertificate = .init(.file(folder + "/stray.pem"), key: .file(folder + "/stray.key"))
            }
        }
        let good = try await exchange(with: server) {
            $0.tls.clientCertificate = .init(
                .file(folder + "/client.pem"), key: .file(folder + "/client.key"), password: "open sesame")
        }
        #expect(good.status == 200)
        #expect(good.metrics.tlsVersion == "1.3")
    }
}
