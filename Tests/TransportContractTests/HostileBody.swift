import Foundation
import NetworkLayer
import NetworkTesting
import Testing

/// A body that is small on the wire and keeps its decoder busy for very long.
struct HostileBody: Sendable, CustomTestStringConvertible {
    let name: String
    /// The value of `Content-Encoding`.
    let encoding: String
    let script: Script
    /// The capability that a transport needs to decode the body.
    var capability: TransportCapabilities.Capability?
    /// The exclusion of transports that can't run the case.
    var exclusion: Exclusion.Case?
    /// Whether it yields lines without end, so that only a timeout or its reader ends it.
    var isEndless = false

    var testDescription: String { name }

    /// Creates a body that arrives completely before anything is read.
    private init(
        _ name: String, _ encoding: String, _ body: RepeatedBytes,
        needs capability: TransportCapabilities.Capability? = nil
    ) {
        self.name = name
        self.encoding = encoding
        self.capability = capability
        exclusion = encoding.contains(",") ? .nestedEncodings : nil
        script = .response(fields: Self.fields(encoding), body: body.bytes)
    }

    /// Creates a body that never ends on the wire either.
    private init(_ name: String, _ encoding: String, flood piece: Data, after start: Data) {
        self.name = name
        self.encoding = encoding
        exclusion = .droppedFlood
        let pieces = RepeatedBytes(piece, times: 65_536 / piece.count).bytes
        script = [.read, .send(Script.head(200, fields: Self.fields(encoding)) + start), .flood(pieces)]
    }

    private static func fields(_ encoding: String) -> [(String, String)] {
        [("Content-Encoding", encoding), ("Content-Type", "text/event-stream")]
    }

    // MARK: Parts of the bodies

    private static let gzipHead = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255])
    private static let storedNothing = Data([0, 0, 0, 0xFF, 0xFF])
    private static let emptyMember = gzipHead + Data([3, 0] + Array(repeating: 0, count: 8))
    private static let zstdHead = Data([0x28, 0xB5, 0x2F, 0xFD, 0, 0x68])

    private static func lineFeeds(_ gigabytes: Int) -> RepeatedBytes {
        RepeatedBytes(Data("\n".utf8), times: gigabytes << 30).gzipped()
    }

    private static func storedNothing(_ count: Int) -> RepeatedBytes {
        RepeatedBytes(storedNothing, times: count, after: gzipHead)
    }

    static let all: [HostileBody] = [
        HostileBody("lines without end, twice packed", "gzip, gzip", lineFeeds(64).gzipped()).endless,
        // Packed bytes lack their end: a reader that came so far would see a truncated body.
        HostileBody("lines, packed", "gzip", lineFeeds(1)),
        HostileBody("stored blocks of nothing", "gzip", storedNothing(1 << 20)),
        HostileBody("stored blocks of nothing, twice packed", "gzip, gzip", storedNothing(1 << 28).gzipped()),
        HostileBody(
            "stored blocks of nothing, four times packed", "gzip, gzip, gzip, gzip",
            storedNothing(1 << 37).gzipped().gzipped().gzipped()),
        HostileBody("stored blocks of nothing without end", "gzip", flood: storedNothing, after: gzipHead),
        HostileBody("bare blocks of nothing", "deflate", RepeatedBytes(storedNothing, times: 1 << 20)),
        HostileBody("members of nothing", "gzip", RepeatedBytes(emptyMember, times: 1 << 17)),
        HostileBody(
            "members of nothing, twice packed", "gzip, gzip", RepeatedBytes(emptyMember, times: 1 << 25).gzipped()),
        HostileBody("members of nothing without end", "gzip", flood: emptyMember, after: Data()),
        HostileBody(
            "Brotli's metadata of nothing, packed", "br, gzip",
            RepeatedBytes(Data([6]), times: 1 << 28, after: Data([12])).gzipped(), needs: .brotli),
        HostileBody(
            "Zstandard's skippable frames, packed", "zstd, gzip",
            RepeatedBytes(Data([0x50, 0x2A, 0x4D, 0x18, 0, 0, 0, 0]), times: 1 << 25).gzipped(), needs: .zstd),
        HostileBody(
            "Zstandard's empty frames, packed", "zstd, gzip",
            RepeatedBytes(Data([0x28, 0xB5, 0x2F, 0xFD, 0x20, 0, 1, 0, 0]), times: 1 << 25).gzipped(), needs: .zstd),
        HostileBody(
            "Zstandard's empty blocks, packed", "zstd, gzip",
            RepeatedBytes(Data([0, 0, 0]), times: 1 << 27, after: zstdHead).gzipped(), needs: .zstd),
        HostileBody(
            "Zstandard's repeated line feed, packed", "zstd, gzip",
            RepeatedBytes(Data([2, 0, 0x10, 0x0A]), times: 1 << 20, after: zstdHead).gzipped(), needs: .zstd
        ).endless,
    ]

    private var endless: HostileBody {
        var body = self
        body.isEndless = true
        return body
    }
}

/// A way to read the whole body of a response through the pipeline.
enum ReadingVerb: CaseIterable, Sendable {
    case collect, stream, collectedStream, text, lines, jsonLines, decoded, typed, download, events

    private struct Numbers: RequestType {
        typealias ResponseType = [Int]
        let data: RequestData
    }

    func run(over client: NetworkClient, _ url: String, in folder: String) async throws {
        let request = RequestData(path: url)
        switch self {
        case .collect: _ = try await client.send(request, as: .data)
        case .stream: for try await _ in try await client.send(request, as: .stream).body {}
        case .collectedStream: _ = try await client.send(request, as: .stream).body.collect()
        case .text: _ = try await client.send(request, as: .text)
        case .lines: for try await _ in try await client.send(request, as: .lines).body {}
        case .jsonLines: for try await _ in try await client.send(request, as: .jsonLines(of: Int.self)).body {}
        case .decoded: _ = try await client.send(request, as: [Int].self)
        case .typed: _ = try await client.send(Numbers(data: request))
        case .download:
            var options = DownloadedFile.Options()
            // A resumable download would request no encoding, and refuse any.
            options.resumes = false
            options.maximumBytes = 1 << 28
            _ = try await client.send(request, as: .file(folder + "/file", options: options))
        case .events: for try await _ in try await client.send(request, as: .events(Self.fewConnections)).body {}
        }
    }

    private static var fewConnections: ServerSentEvents.Options {
        var options = ServerSentEvents.Options()
        options.maximumFailures = 2
        return options
    }
}
