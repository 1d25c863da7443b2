import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

/// A peer of `scripts/peers` that speaks TLS with the certificate that the peers created. Its first line of output is
/// its port. It ends with this object.
final class TLSPeer: Sendable {
    let port: Int
    var url: RequestURL { get throws { try RequestURL("https://localhost:\(port)/") } }
    private let process: Process

    /// - Parameters:
    ///   - options: The script's arguments after the folder of its certificate.
    ///   - line: The line that the script reads first, if it reads any.
    init(_ name: String, options: [String] = [], line: String = "") throws {
        let (input, output) = (Pipe(), Pipe())
        let process = Process()
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../scripts/peers/\(name)")
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", script.path, Peers.tlsFolder] + options
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        self.process = process
        var said = ""
        while !said.hasSuffix("\n"), case let bytes = output.fileHandleForReading.availableData, !bytes.isEmpty {
            said += String(decoding: bytes, as: UTF8.self)
        }
        port = try #require(Int(said.trimmingCharacters(in: .whitespacesAndNewlines)))
        try input.fileHandleForWriting.write(contentsOf: Data(line.utf8))
    }

    deinit { process.terminate() }
}

/// `scripts/peers/tls-front`, which speaks TLS for a scripted server.
final class TLSFront: Sendable {
    private let peer: TLSPeer
    var port: Int { peer.port }
    var url: RequestURL { get throws { try RequestURL("https://localhost:\(port)/") } }

    /// - Parameter segment: The largest TCP segment in bytes. With a small one, a client's system takes tens of
    ///   kilobytes of what the client sends, and then no more until they are read.
    init(to server: ScriptedServer, segment: Int? = nil) throws {
        peer = try TLSPeer("tls-front", options: segment.map { ["\($0)"] } ?? [], line: "\(server.port)\n")
    }

    /// The front as a proxy, trusted by the authority that the peers created.
    var proxy: TransportOptions.Proxy.Server {
        var proxy = TransportOptions.Proxy.Server("https://localhost:\(port)")
        proxy.authorities = .file(Peers.tlsFolder + "/ca.pem")
        return proxy
    }
}
