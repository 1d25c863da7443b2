import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

/// `scripts/peers/tls-front`, which speaks TLS for a scripted server.
final class TLSFront: Sendable {
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

    /// The front as a proxy, trusted by the authority that the peers made.
    var proxy: Proxy {
        var proxy = Proxy("https://localhost:\(port)")
        proxy.authorities = .file(Peers.tlsFolder + "/ca.pem")
        return proxy
    }

    deinit { process.terminate() }
}
