import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

@Suite("Metrics over curl", .patience(minutes: 1))
struct MetricsTests {
    private let dispatcher = CurlNetworkDispatcher()

    @Test(
        arguments: [
            ("TLSv1.3", "1.3"), ("TLS1.2", "1.2"), ("TLSv1", "1.0"), ("unknown", nil), ("", nil),
        ] as [(String, String?)])
    func `a protocol's name has its version`(name: String, version: String?) {
        #expect(TLSSession.version(in: name) == version)
    }

    /// Regression: libcurl below 8.3 takes the beginning of an upload for the first byte of the response.
    @Test(arguments: [4, 17_000, 1_000_000])
    func `the first byte of a response is not the upload's`(size: Int) async throws {
        try await withServer([
            .read, .pause(.milliseconds(200)), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .stall,
        ]) { server in
            let metrics = try await OptionExchange(server.url(), over: dispatcher, body: Data(count: size)).metrics
            #expect(try #require(metrics.firstByte) >= .milliseconds(200))
        }
    }

    @Test func `a new connection has each step, and a kept one has none`() async throws {
        try await withServer(.ok("hello")) { server in
            let url = "http://localhost:\(server.port)/"
            let first = try await OptionExchange(url, over: dispatcher, body: Data("four".utf8)).metrics
            #expect(first.connectionReused == false)
            let steps = [try #require(first.nameLookup), try #require(first.connect)]
            #expect(steps.allSatisfy { $0 > .zero && $0 < first.total })
            let queued = try #require(first.queued)
            let firstByte = try #require(first.firstByte)
            #expect(queued >= .zero && queued < firstByte && firstByte <= first.total)
            #expect(first.httpVersion == "1.1")
            #expect(first.remoteAddress == "127.0.0.1:\(server.port)")
            #expect(first.localAddress?.hasPrefix("127.0.0.1:") == true)
            #expect(first.requestBodyBytes == 4)
            #expect(first.responseWireBytes == 5)
            #expect(first.responseBodyBytes == 5)
            // In clear text, TLS values are unknown rather than 0.
            #expect(first.tls == nil && first.tlsVersion == nil && first.tlsCipher == nil)

            let second = try await OptionExchange(url, over: dispatcher).metrics
            #expect(second.connectionReused == true)
            #expect(second.nameLookup == nil && second.connect == nil)
            #expect(second.remoteAddress == first.remoteAddress)
            #expect(second.localAddress == first.localAddress)
            #expect(second.requestBodyBytes == nil)
        }
    }

    @Test func `bytes are counted on the wire and decoded`() async throws {
        let packed = Gzip.zeros(count: 100_000)
        try await withServer(.response(fields: [("Content-Encoding", "gzip")], body: packed)) { server in
            let metrics = try await OptionExchange(server.url(), body: Data(count: 50_000)) {
                $0.requestCompression = .gzip
            }.metrics
            #expect(metrics.responseWireBytes == packed.count)
            #expect(metrics.responseBodyBytes == 100_000)
            let sent = try #require(server.requests.first).body.count
            #expect(sent < 1_000)
            #expect(metrics.requestBodyBytes == sent)
        }
    }

    /// Regression: where a body's last byte and the end of its transfer came in two rounds of the loop, the reader of a
    /// response to an upload got the body's end before the metrics were complete.
    @Test(arguments: [true, false])
    func `the metrics of an upload are complete when the response's body has ended`(isStreamed: Bool) async throws {
        try await withServer(.ok("hello")) { server in
            let bytes = Data(count: 20_000)
            let incomplete = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<64 {
                    group.addTask { [dispatcher] in
                        var incomplete = 0
                        for _ in 0..<20 {
                            var request = TransportRequest(method: .post, url: try RequestURL(server.url()))
                            request.body =
                                isStreamed ? .stream(Self.stream(of: bytes), length: bytes.count) : .bytes(bytes)
                            request.options.totalTimeout = .seconds(55)
                            let response = try await dispatcher.send(request)
                            _ = try await response.body.collect()
                            if response.metrics.requestBodyBytes != bytes.count { incomplete += 1 }
                        }
                        return incomplete
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(incomplete == 0)
        }
    }

    private static func stream(of bytes: Data) -> AsyncStream<Data> {
        AsyncStream { continuation in
            continuation.yield(bytes)
            continuation.finish()
        }
    }

    /// libcurl counts the framing of chunks, too.
    @Test func `a streamed body has its own bytes`() async throws {
        try await withServer(.ok()) { server in
            var request = TransportRequest(method: .post, url: try RequestURL(server.url()))
            request.body = .stream(
                AsyncStream { continuation in
                    for piece in ["a", "bc"] { continuation.yield(Data(piece.utf8)) }
                    continuation.finish()
                })
            let response = try await dispatcher.send(request)
            _ = try await response.body.collect()
            #expect(response.metrics.requestBodyBytes == 3)
            #expect(server.requests.first?.body == Data("abc".utf8))
        }
    }

    @Test
    func `a body that is sent once more is counted`() async throws {
        // The first connection responds once, reads the second request, and closes without a response.
        let once: Script = [.read, .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .read, .close]
        try await withServer(once, .ok()) { server in
            #expect(try await OptionExchange(server.url(), over: dispatcher).metrics.resends == 0)
            let again = try await OptionExchange(server.url(), over: dispatcher).metrics
            #expect(again.resends == 1)
            #expect(again.connectionReused == false)
            #expect(server.connectionCount == 2)
        }
    }

    /// libcurl gives up at the fifth retry that a handle has counted since its last reset.
    @Test func `retries of many requests do not add up`() async throws {
        let once: Script = [.read, .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .read, .close]
        let server = try ScriptedServer(once)
        defer { server.stop() }
        for round in 0..<20 {
            let metrics = try await OptionExchange(server.url(), over: dispatcher).metrics
            #expect(metrics.resends == min(round, 1))
        }
        #expect(server.connectionCount == 20)
    }

    @Test func `the wait for a turn is counted`() async throws {
        let gate = Gate()
        try await withServer([
            .forEachRequest([
                .wait(until: gate), .pause(.milliseconds(50)), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
            ])
        ]) { server in
            var configuration = CurlNetworkDispatcher.Configuration()
            configuration.maximumConnectionsPerOrigin = 1
            configuration.maximumQueued = 1
            let narrow = CurlNetworkDispatcher(configuration: configuration)
            let url = server.url()
            let first = Task { try await OptionExchange(url, over: narrow).metrics }
            try await server.wait { $0.requests.count == 1 }
            // Started on the loop's own thread, the two reach the loop in this order.
            let executor = try narrow.loopExecutor()
            let second = Task(executorPreference: executor) { try await OptionExchange(url, over: narrow).metrics }
            let third = Task(executorPreference: executor) { try await OptionExchange(url, over: narrow).metrics }
            // The third one is refused, so the second one must be waiting.
            let refusal = await #expect(throws: NetworkError.self) { try await third.value }
            #expect(refusal?.code == .overloaded)
            gate.open()
            _ = try await first.value
            let late = try await second.value
            let wait = try #require(late.queued)
            #expect(wait >= .milliseconds(50))
            #expect(wait <= late.total)
        }
    }
}
