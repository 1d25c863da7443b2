import Foundation
import NetworkLayer

/// Downloads into a file, resumes an earlier download, and prints the file's SHA-256 checksum:
///
///     Downloads URL FILE
@main
struct Downloads {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count == 2 else { fail("usage: Downloads URL FILE", status: 2) }
        do {
            let client = NetworkClient(transport: DefaultTransport.shared)
            var options = DownloadedFile.Options()
            options.progress = { print("\($0.completed) of \($0.total.map { "\($0)" } ?? "?") bytes") }
            let file = try await client.send(
                RequestData(path: arguments[0]), as: .file(arguments[1], options: options)
            ).body
            print("\(file.bytes) bytes, from byte \(file.resumedFrom) on, sha256 \(try sum(of: file.path))")
        } catch {
            fail("\(error)", status: 1)
        }
    }

    private static func sum(of path: String) throws -> String {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        var checksum = SHA256Checksum()
        while let piece = try file.read(upToCount: 1 << 20), !piece.isEmpty { checksum.update(piece) }
        return checksum.finish().map { String(format: "%02x", Int($0)) }.joined()
    }

    private static func fail(_ message: String, status: Int32) -> Never {
        FileHandle.standardError.write(Data((message + "\n").utf8))
        exit(status)
    }
}
