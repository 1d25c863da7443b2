import Foundation
import NetworkLayer
import Synchronization
import TestSupport
import Testing

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
