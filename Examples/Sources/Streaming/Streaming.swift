import CurlTransport
import Foundation
import NetworkCore

/// Streams a body of any size in either direction and prints the peak memory:
///
///     Streaming download URL
///     Streaming upload URL BYTES
@main
struct Streaming {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            switch arguments.first {
            case "download" where arguments.count == 2: try await download(arguments[1])
            case "upload" where arguments.count == 3: try await upload(arguments[1], bytes: Int(arguments[2]) ?? 0)
            default: fail("usage: Streaming download URL | upload URL BYTES", status: 2)
            }
            print("peak resident memory: \(peakKilobytes / 1024) MiB")
        } catch {
            fail("\(error)", status: 1)
        }
    }

    private static func download(_ url: String) async throws {
        let response = try await CurlNetworkDispatcher.shared.send(TransportRequest(url: try RequestURL(url)))
        var bytes = 0
        for try await chunk in response.body { bytes += chunk.count }
        print("\(response.head.status.code), \(bytes) bytes in \(response.metrics.total)")
    }

    private static func upload(_ url: String, bytes: Int) async throws {
        let piece = Data(repeating: 0x61, count: 65_536)
        let body = TransportRequest.Body.replayableStream(length: bytes) {
            Pieces(piece: piece, rest: bytes)
        }
        let request = TransportRequest(method: .post, url: try RequestURL(url), body: body)
        let response = try await CurlNetworkDispatcher.shared.send(request)
        _ = try await response.body.collect()
        print(
            "\(response.head.status.code), \(response.metrics.requestBodyBytes ?? 0) bytes sent in \(response.metrics.total)"
        )
    }

    /// The same chunk repeated up to a number of bytes.
    private struct Pieces: AsyncSequence, AsyncIteratorProtocol, Sendable {
        let piece: Data
        var rest: Int

        mutating func next() async -> Data? {
            guard rest > 0 else { return nil }
            defer { rest -= piece.count }
            return piece.prefix(rest)
        }

        func makeAsyncIterator() -> Self { self }
    }

    private static var peakKilobytes: Int {
        let status = try? FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/status")).readToEnd()
        let line = String(decoding: status ?? Data(), as: UTF8.self).split(separator: "\n").first {
            $0.hasPrefix("VmHWM")
        }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }

    private static func fail(_ message: String, status: Int32) -> Never {
        FileHandle.standardError.write(Data((message + "\n").utf8))
        exit(status)
    }
}
