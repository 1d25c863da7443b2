import Foundation
import NetworkLayer
import TestSupport
import Testing

/// HTTP/2 against nghttpd, over TLS.
@Suite(.enabled(if: Peers.nghttpdTLS != nil, Peers.absence(of: Peers.nghttpdTLSVariable)), .patience(minutes: 1))
struct NghttpdTests {
    /// The content of `numbers.txt`: 1, 2, 3, …, one per line, cut at 1 MiB.
    private static let numbers = Data((1...200_000).lazy.map { "\($0)\n" }.joined().utf8.prefix(1 << 20))

    @Test(.curlSpeaksHTTP2) func `HTTP 2 is negotiated`() async throws {
        let answer = try await HTTP2Client(Peers.nghttpdTLS).send("/hello.txt")
        #expect(answer.status == 200)
        #expect(answer.text == "hello from nghttpd\n")
        #expect(answer.metrics.httpVersion == "2")
    }

    @Test(.curlSpeaksHTTP2) func `a hundred streams share one connection and keep their bodies apart`() async throws {
        let answers = try await HTTP2Client(Peers.nghttpdTLS).send("/numbers.txt", times: 100)
        #expect(answers.count == 100)
        #expect(answers.connections.count == 1, "\(answers.connections)")
        #expect(answers.count { $0.metrics.connectionReused == false } == 1)
        // Compared to a Bool: the difference between two such bodies takes long to compute and is no use to read.
        let allAreNumbers = answers.allSatisfy { $0.body == Self.numbers }
        #expect(allAreNumbers)
    }

    @Test(.curlSpeaksHTTP2) func `an upload comes back whole`() async throws {
        let answer = try await HTTP2Client(Peers.nghttpdTLS).send("/echo", method: .post, body: Self.numbers)
        let isNumbers = answer.body == Self.numbers
        #expect(answer.status == 200)
        #expect(isNumbers)
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
                    let body = number % 2 == 0 ? TransportRequest.Body.bytes(bytes) : .stream(AsyncStream.once(bytes))
                    let response = try await client.start("/echo", method: .post, body: body)
                    return try await response.body.collect() == bytes ? nil : number
                }
            }
            return try await group.reduce(into: strangers) { strangers, other in other.map { strangers.append($0) } }
        }
        #expect(strangers.isEmpty)
    }

    @Test(.curlSpeaksHTTP2) func `bodies that are dropped or cancelled leave the other streams alone`() async throws {
        let client = try HTTP2Client(Peers.nghttpdTLS)
        let whole = try await withThrowingTaskGroup(of: Bool?.self) { group in
            for number in 0..<60 {
                group.addTask {
                    switch number % 3 {
                    case 0: return try await client.send("/numbers.txt").body == Self.numbers
                    case 1:
                        // The head is read, and the body is dropped with the response.
                        _ = try await client.start("/numbers.txt")
                        return nil
                    default:
                        let task = Task { try await client.send("/numbers.txt") }
                        for _ in 0..<number { await Task.yield() }
                        task.cancel()
                        _ = await task.result
                        return nil
                    }
                }
            }
            return try await group.reduce(into: [Bool]()) { if let isWhole = $1 { $0.append(isWhole) } }
        }
        #expect(whole == Array(repeating: true, count: 20))
        #expect(try await client.send("/hello.txt").text == "hello from nghttpd\n")
    }

    @Test(.curlSpeaksHTTP2) func `prior knowledge selects HTTP 2 in clear text`() async throws {
        var client = try HTTP2Client(Peers.nghttpd)
        client.version = .http2PriorKnowledge
        let answers = try await client.send("/numbers.txt", times: 100)
        #expect(answers.allSatisfy { $0.metrics.httpVersion == "2" })
        let allAreNumbers = answers.allSatisfy { $0.body == Self.numbers }
        #expect(allAreNumbers)
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

extension AsyncStream {
    fileprivate static func once(_ element: Element) -> AsyncStream where Element: Sendable {
        AsyncStream { stream in
            stream.yield(element)
            stream.finish()
        }
    }
}
