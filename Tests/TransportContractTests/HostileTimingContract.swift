import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

/// Servers that break off, fall silent, or never end, in each phase.
@Suite(.serialized, .patience(minutes: 2), .ownProcess)
struct HostileTimingContract {
    private static let ok = "HTTP/1.1 200 OK\r\n"
    private static let chunked = ok + "Transfer-Encoding: chunked\r\n\r\n"
    private static let interim = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"

    /// The bytes that the server sends before that, and whether they end within a head.
    private static let phases: [(name: String, sent: String, isInHead: Bool)] = [
        ("in the version", "HTT", true),
        ("in the status", "HTTP/1.1 2", true),
        ("after the status line", ok, true),
        ("in a field", ok + "X-A: b", true),
        ("before the blank line", ok + "Content-Length: 9\r\n", true),
        ("after an interim response", interim, false),
        ("after the head", ok + "Content-Length: 9\r\n\r\n", false),
        ("in the body", ok + "Content-Length: 9\r\n\r\nabc", false),
        ("before the first chunk", chunked, false),
        ("in a chunk's size", chunked + "3", false),
        ("in a chunk", chunked + "3\r\nab", false),
        ("before the last chunk", chunked + "3\r\nabc\r\n", false),
        ("in the last chunk", chunked + "3\r\nabc\r\n0\r\n", false),
    ]

    // MARK: Resets

    private static let resets: [ContractCase] =
        [
            .init("at once", [.reset], .failure(.connectionLost), .failure(.connectFailed)),
            .init("after the request's head", [.readHead, .reset], .failure(.connectionLost)),
            .init("after the request", .reset, .failure(.connectionLost)),
        ]
        + phases.map { phase in
            let isBeforeTheResponse = phase.isInHead || phase.sent == interim
            return ContractCase(
                phase.name,
                [.read, .send(phase.sent), .pause(.milliseconds(50)), .reset],
                .failure(isBeforeTheResponse ? .connectionLost : .truncatedBody),
                exclusion: phase.isInHead ? .headThatEndsEarly : nil
            )
        }

    @Test(arguments: ContractTransport.all, resets)
    func `a reset in any phase is an error`(transport: ContractTransport, hostile: ContractCase) async throws {
        try await hostile.posting(10).check(over: transport)
    }

    // MARK: Stalls

    private static let stalls: [ContractCase] =
        [
            .init("at once", [.stall], .failure(.idleTimeout), change: impatient),
            .init("after the request's head", [.readHead, .stall], .failure(.idleTimeout), change: impatient),
            .init("after the request", .stalled, .failure(.idleTimeout), change: impatient),
        ]
        + phases.map {
            .init($0.name, [.read, .send($0.sent), .stall], .failure(.idleTimeout), change: impatient)
        }

    @Sendable private static func impatient(_ options: inout TransportOptions) {
        options.idleTimeout = .milliseconds(500)
    }

    @Test(arguments: ContractTransport.all, stalls)
    func `a stall in any phase is a timeout`(transport: ContractTransport, hostile: ContractCase) async throws {
        try await hostile.posting(10).check(over: transport)
    }

    // MARK: Floods

    private static let noise = String(repeating: "x", count: 10_000)
    private static let manyInterim = String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 200)

    private static let floods: [ContractCase] = [
        .init("garbage without end", [.read, .flood(PatternBytes.make(count: 50_000))], .failure(.invalidResponse)),
        .init(
            "a status line without end", [.read, .send("HTTP/1.1 200 "), .flood(Data(noise.utf8))],
            .failure(.responseHeadTooLarge)),
        .init(
            "a field without end", [.read, .send(ok + "X-A: "), .flood(Data(noise.utf8))],
            .failure(.responseHeadTooLarge)),
        .init(
            "fields without end", [.read, .send(ok), .flood(Data("X-A: \(noise)\r\n".utf8))],
            .failure(.responseHeadTooLarge), exclusion: .largeHead),
        .init(
            "short fields without end",
            [.read, .send(ok), .flood(Data(String(repeating: "a:\r\n", count: 1000).utf8))],
            .failure(.responseHeadTooLarge), exclusion: .manyFields),
        .init(
            "ten thousand fields", ok + (0..<10_000).map { "X-\($0): 1\r\n" }.joined() + "\r\n",
            .failure(.responseHeadTooLarge), exclusion: .manyFields),
        .init("two hundred interim responses", manyInterim + ok + "Content-Length: 2\r\n\r\nok", .response(200, "ok")),
        .init(
            "interim responses without end",
            [.read, .flood(Data(interim.utf8))],
            // Newer libcurl versions have their own limit, which URLSession reports with this code.
            .failure(.responseHeadTooLarge), .failure(.totalTimeout), .failure(.invalidResponse),
            change: { $0.totalTimeout = .seconds(5) }
        ).dropped(),
        .init(
            "a chunk's extension without end", [.read, .send(chunked + "3;"), .flood(Data(noise.utf8))],
            .failure(.totalTimeout), change: { $0.totalTimeout = .seconds(1) }
        ).dropped(),
        .init(
            "small chunks without end",
            [.read, .send(chunked), .flood(Data(String(repeating: "1\r\na\r\n", count: 1000).utf8))],
            .failure(.bodyTooLarge), change: { $0.maximumBodyBytes = 100_000 }),
        .init(
            "trailers without end", [.read, .send(chunked + "0\r\n"), .flood(Data("T: \(noise)\r\n".utf8))],
            .failure(.responseHeadTooLarge), exclusion: .trailers),
        .init(
            "a body on 204 without end", [.read, .send("HTTP/1.1 204 x\r\n\r\n"), .flood(Data(noise.utf8))],
            .response(204, "")),
        .init(
            "a compressed bomb", .response(fields: [("Content-Encoding", "gzip")], body: Gzip.zeros(count: 16 << 20)),
            .failure(.bodyTooLarge), change: { $0.maximumBodyBytes = 1 << 20 }),
    ]

    @Test(arguments: ContractTransport.all, floods)
    func `a flood is cut off`(transport: ContractTransport, hostile: ContractCase) async throws {
        try await hostile.check(over: transport)
    }

    /// Over curl, even a call without a total timeout ends. URLSession reads on.
    @Test func `endless interim responses are cut off over curl`() async throws {
        try await withServer([.read, .flood(Data(Self.interim.utf8))]) { server in
            await expectFailure(.responseHeadTooLarge) { try await ContractTransport.curl.send(.get, server.url()) }
            try await server.wait { $0.connectionsEndedByPeer == 1 }
        }
    }

    // MARK: Early responses

    private static let answer = ok + "Content-Length: 2\r\n\r\nok"

    private static let early: [ContractCase] = [
        .init("before the request is read", [.send(answer), .stall], .response(200, "ok")),
        .init("after the request's head", [.readHead, .send(answer), .stall], .response(200, "ok")),
        .init("twice", [.readHead, .send(answer + answer), .stall], .response(200, "ok")),
    ]

    @Test(arguments: ContractTransport.all, early)
    func `an early response is a response`(transport: ContractTransport, hostile: ContractCase) async throws {
        try await hostile.posting(1 << 20).check(over: transport)
    }
}
