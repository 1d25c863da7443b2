import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

/// HTTP/2 against nghttpd, over TLS.
@Suite(.enabled(if: Peers.nghttpdTLS != nil, Peers.absence(of: Peers.nghttpdTLSVariable)), .patience(minutes: 1))
struct NghttpdTests {
    /// The content of `numbers.txt`: 1, 2, 3, …, one per line, cut at 1 MiB.
    static let numbers = Data((1...200_000).lazy.map { "\($0)\n" }.joined().utf8.prefix(1 << 20))

    @Test(.curlSpeaksHTTP2) func `HTTP 2 is negotiated`() async throws {
        let answer = try await HTTP2Client(Peers.nghttpdTLS).send("/hello.txt")
        #expect(answer.status == 200)
        #expect(answer.text == "hello from nghttpd\n")
        #expect(answer.metrics.httpVersion == "2")
    }

    /// Sends a hundred requests at once, and expects one connection and each body whole.
    static func expectOneConnection(_ client: HTTP2Client) async throws {
        let answers = try await client.send("/numbers.txt", times: 100)
        #expect(answers.count == 100)
        #expect(answers.allSatisfy { $0.metrics.httpVersion == "2" })
        #expect(answers.connections.count == 1, "\(answers.connections)")
        #expect(answers.count { $0.metrics.connectionReused == false } == 1)
        // Compared to a Bool: the difference between two such bodies takes long to compute and is no use to read.
        let allAreNumbers = answers.allSatisfy { $0.body == Self.numbers }
        #expect(allAreNumbers)
    }

    @Test(.curlSpeaksHTTP2) func `a hundred streams share one connection and keep their bodies apart`() async throws {
        try await Self.expectOneConnection(HTTP2Client(Peers.nghttpdTLS))
    }

    static func expectEcho(_ client: HTTP2Client) async throws {
        let answer = try await client.send("/echo", method: .post, body: .bytes(Self.numbers))
        let isNumbers = answer.body == Self.numbers
        #expect(answer.status == 200 && isNumbers)
    }

    @Test(.curlSpeaksHTTP2) func `an upload comes back whole`() async throws {
        try await Self.expectEcho(HTTP2Client(Peers.nghttpdTLS))
    }

    /// Returns the bytes of a body, distinct from any other's, in sizes around those of libcurl's buffers.
    private static func bytes(of number: Int) -> Data {
        let sizes = [0, 10, 16_200, 16_280, 16_300, 16_384, 20_000, 32_768, 49_152]
        return Data(repeating: UInt8(truncatingIfNeeded: number), count: sizes[number % sizes.count] + number / 256)
    }

    @Test(.curlSpeaksHTTP2) func `each of many streams gets its own bytes while bodies go up`() async throws {
        let client = try HTTP2Client(Peers.nghttpdTLS)
        let strangers = try await withThrowingTaskGroup(of: Int?.self) { group in
            var strangers: [Int] = []
            for number in 0..<1_500 {
                if number >= 40, let stranger = try await group.next() ?? nil { strangers.append(stranger) }
                group.addTask {
                    let bytes = Self.bytes(of: number)
                    // Every other body has no known length.
                    let body = number % 2 == 0 ? TransportRequest.Body.bytes(bytes) : .once([bytes])
                    return try await client.send("/echo", method: .post, body: body).body == bytes ? nil : number
                }
            }
            return try await group.reduce(into: strangers) { strangers, other in other.map { strangers.append($0) } }
        }
        #expect(strangers.isEmpty)
    }

    @Test(.curlSpeaksHTTP2) func `bodies that are dropped or cancelled leave the other streams alone`() async throws {
        let client = try HTTP2Client(Peers.nghttpdTLS)
        let whole = try await atOnce(60) { number -> Bool? in
            switch number % 3 {
            case 0: return try await client.send("/numbers.txt").body == Self.numbers
            case 1:
                // The head is read, and the body is dropped with the response.
                _ = try await client.start("/numbers.txt")
            default:
                let task = Task { try await client.send("/numbers.txt") }
                for _ in 0..<number { await Task.yield() }
                task.cancel()
                _ = await task.result
            }
            return nil
        }
        #expect(whole.compactMap(\.self) == Array(repeating: true, count: 20))
        #expect(try await client.send("/hello.txt").text == "hello from nghttpd\n")
    }

    /// URLSession can't be given the peers' authority, and can't speak to a server that speaks only HTTP/2 in clear
    /// text.
    @Test func `URLSession fails with an error on both of nghttpd's ports`() async throws {
        let transport = URLSessionNetworkDispatcher.shared
        let secure = try RequestURL(#require(Peers.nghttpdTLS) + "/hello.txt")
        await expectFailure(.certificateUntrusted) { try await Exchange(secure, over: transport) }
        await expectFailure(.unsupported) { try await Exchange(secure, over: transport) { $0.httpVersion = .http2 } }
        let clear = try RequestURL(#require(Peers.nghttpd) + "/hello.txt")
        await #expect(throws: NetworkError.self) { try await Exchange(clear, over: transport) }
    }
}

/// HTTP/2 in clear text against nghttpd, which speaks nothing else there.
@Suite(.enabled(if: Peers.nghttpd != nil, Peers.absence(of: Peers.nghttpdVariable)), .patience(minutes: 1))
struct ClearHTTP2Tests {
    @Test(.curlSpeaksHTTP2) func `prior knowledge selects it, and many streams share a connection`() async throws {
        try await NghttpdTests.expectOneConnection(HTTP2Client(Peers.nghttpd, version: .http2PriorKnowledge))
    }

    @Test(.curlSpeaksHTTP2) func `a body is sent and comes back unchanged`() async throws {
        try await NghttpdTests.expectEcho(HTTP2Client(Peers.nghttpd, version: .http2PriorKnowledge))
    }

    @Test func `a connection for it can't be opened ahead`() async throws {
        var options = TransportOptions()
        options.httpVersion = .http2PriorKnowledge
        let url = try RequestURL(#require(Peers.nghttpd))
        await expectFailure(.unsupported) { [options] in
            try await CurlNetworkDispatcher.shared.prewarm(url, options: options)
        }
    }

    @Test(.curlSpeaksHTTP2) func `a server that speaks only HTTP 1 is an error`() async throws {
        try await withServer(.ok("x")) { server in
            let client = try HTTP2Client(server.baseURL, version: .http2PriorKnowledge)
            let error = await #expect(throws: NetworkError.self) { try await client.send("/", within: .seconds(5)) }
            #expect([.invalidResponse, .connectionLost, .totalTimeout].contains(error?.code))
        }
    }

    @Test func `URLSession refuses it before anything is sent`() async throws {
        let url = try RequestURL(#require(Peers.nghttpd) + "/hello.txt")
        await expectFailure(.unsupported) {
            try await Exchange(url, over: URLSessionNetworkDispatcher.shared) { $0.httpVersion = .http2PriorKnowledge }
        }
    }
}
