import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

/// `scripts/peers/tls-front`, which speaks TLS for a scripted server.
private final class Front: Sendable {
    let port: Int
    private let process: Process

    init(to server: ScriptedServer) throws {
        let (input, output) = (Pipe(), Pipe())
        let process = Process()
        let script = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../scripts/peers/tls-front")
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", script.path, Peers.tlsFolder]
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        self.process = process
        var line = ""
        while !line.hasSuffix("\n"), case let bytes = output.fileHandleForReading.availableData, !bytes.isEmpty {
            line += String(decoding: bytes, as: UTF8.self)
        }
        port = try #require(Int(line.trimmingCharacters(in: .whitespacesAndNewlines)))
        try input.fileHandleForWriting.write(contentsOf: Data("\(server.port)\n".utf8))
    }

    deinit { process.terminate() }
}

@Suite(.enabled(if: Peers.tlsPort != nil, Peers.absence(of: Peers.tlsVariable)), .timeLimit(.minutes(1)))
struct TLSSurplusTests {
    /// What comes in one record with a body is decrypted with it, and waits in the TLS library and in no socket.
    @Test(.enabled(if: Libcurl.found.has(.requestCheck), "told from libcurl 7.80 on"))
    func `bytes behind a body in its TLS record are no response to the next request`() async throws {
        let gate = Gate()
        let server = try ScriptedServer(
            [
                .read, .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"), .wait(until: gate),
                .send("firstHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"), .stall,
            ], .ok("honest"))
        defer { server.stop() }
        let front = try Front(to: server)
        let dispatcher = CurlNetworkDispatcher()
        var request = TransportRequest(url: try RequestURL("https://localhost:\(front.port)/"))
        request.options.trustPeers()
        request.options.totalTimeout = .seconds(30)
        let first = try await dispatcher.send(request)
        gate.open()
        #expect(try await first.body.collect() == Data("first".utf8))
        let second = try await dispatcher.send(request)
        #expect(try await second.body.collect() == Data("honest".utf8))
        await dispatcher.shutDown(within: .zero)
    }
}
