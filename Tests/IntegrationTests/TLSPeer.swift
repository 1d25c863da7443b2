import Foundation
import TestSupport
import Testing

/// A peer of `scripts/peers` that speaks TLS with the certificate that the peers created. Its first line of output is
/// its port. It ends with this object.
final class TLSPeer: Sendable {
    let port: Int
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
