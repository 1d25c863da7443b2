import Foundation
import NIOCore
import NetworkLayer

/// Passes a body of 64 MiB on from one request to the next as buffers, as a proxy does. Then it sends 8 MiB to the
/// demo server's `/echo` as a stream of buffers, and reads the response as buffers too, over the transport that
/// NETWORK_TRANSPORT names:
///
///     NIOBridge http://127.0.0.1:8080        the address of `netlayer serve`
@main
struct NIOBridge {
    static func main() async {
        guard CommandLine.arguments.count == 2 else { fail("usage: NIOBridge BASE-URL", status: 2) }
        do {
            let transport = try DefaultTransport.shared.selected
            let client = NetworkClient(transport: transport).with {
                $0.baseURL = CommandLine.arguments[1]
                $0.options.totalTimeout = .seconds(60)
            }
            // URLSession, which can't be stopped, keeps what the other side does not take yet.
            if transport.capabilities.supports(.backPressure) { try await pass(64 << 20, through: client) }
            let request = RequestData(
                path: "echo", method: .post,
                content: .stream(Pattern(), length: Pattern.pieces * Pattern.pieceBytes))
            let response = try await client.send(request, as: .stream)
            guard response.status == .ok else { fail("the status is \(response.status)", status: 1) }

            // Most programs would pass each buffer on. The echo is JSON, which is decoded as a whole.
            var whole = ByteBuffer()
            for try await var buffer in response.body.byteBuffers { whole.writeBuffer(&buffer) }
            let echoed = ByteBuffer(bytes: try JSONDecoder().decode(Echo.self, from: Data(sharing: whole)).bodyBase64)
            check(echoed)
            print("\(echoed.readableBytes) bytes as ByteBuffers, over \(transport.name)")
        } catch {
            fail("\(error)", status: 1)
        }
    }

    /// Sends a response's body as a request's: each buffer is read when the second server has taken the ones before it.
    /// What the process holds meanwhile is far less than the body.
    private static func pass(_ bytes: Int, through client: NetworkClient) async throws {
        let before = try peakMemory()
        let source = try await client.send(RequestData(path: "bytes/\(bytes)"), as: .stream)
        let upload = RequestData(path: "upload", method: .post, content: .stream(source.body.byteBuffers))
        let received = try await client.send(upload, as: Upload.self).body
        guard received.bytes == bytes else { fail("\(received.bytes) of \(bytes) bytes arrived", status: 1) }
        let grown = try peakMemory() - before
        guard grown < bytes / 4 else { fail("the process held \(grown) bytes of \(bytes)", status: 1) }
        print("\(bytes) bytes passed on as ByteBuffers, within \(bytes / 4) of memory")
    }

    /// The response of the demo server's `/upload`.
    private struct Upload: Decodable {
        let bytes: Int
    }

    /// Returns the most memory that the process has had, in bytes.
    private static func peakMemory() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
            let kilobytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) })
        else { fail("/proc/self/status has no VmHWM", status: 1) }
        return kilobytes * 1024
    }

    /// The response of the demo server's `/echo`.
    private struct Echo: Decodable {
        let bodyBase64: Data
    }

    /// Compares the bytes that came back with the pattern.
    private static func check(_ echoed: ByteBuffer) {
        var rest = echoed
        for number in 0..<Pattern.pieces {
            guard rest.readSlice(length: Pattern.pieceBytes) == Pattern.piece(number) else {
                fail("piece \(number) of \(Pattern.pieces) came back changed or not at all", status: 1)
            }
        }
        guard rest.readableBytes == 0 else { fail("\(rest.readableBytes) bytes too many came back", status: 1) }
    }

    private static func fail(_ message: String, status: Int32) -> Never {
        FileHandle.standardError.write(Data("\(message)\n".utf8))
        exit(status)
    }
}

/// The pattern as a sequence of buffers, each made when it is asked for.
private struct Pattern: AsyncSequence, AsyncIteratorProtocol, Sendable {
    static let (pieces, pieceBytes) = (128, 65_536)

    private var made = 0

    func makeAsyncIterator() -> Self { self }

    mutating func next() async -> ByteBuffer? {
        guard made < Self.pieces else { return nil }
        defer { made += 1 }
        return Self.piece(made)
    }

    /// Returns a piece of the pattern. No two are alike, so that a lost, repeated or moved piece changes the bytes.
    static func piece(_ number: Int) -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: pieceBytes)
        buffer.writeInteger(number)
        buffer.writeImmutableBuffer(rest)
        return buffer
    }

    /// What follows the number in each piece.
    private static let rest: ByteBuffer = {
        var rest = ByteBuffer()
        for word in 1..<UInt64(pieceBytes / 8) { rest.writeInteger(word &* 0x9E37_79B9_7F4A_7C15) }
        return rest
    }()
}
