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
        try await withServer([.read, .pause(.milliseconds(200)), .ok(), .stall]) { server in
            let metrics = try await Exchange(server.url(), over: dispatcher, body: .bytes(Data(count: size))).metrics
            #expect(try #require(metrics.firstByte) >= .milliseconds(200))
        }
    }

    @Test func `a new connection has each step, and a kept one has none`() async throws {
        try await withServer(.ok("hello")) { server in
            let url = "http://localhost:\(server.port)/"
            let first = try await Exchange(url, over: dispatcher, body: .bytes(Data("four".utf8))).metrics
            #expect(first.connectionReused == false)
            let steps = [try #require(first.nameLookup), try #require(first.connect)]
            #expect(steps.allSatisfy { $0 > .zero && $0 < first.total })
            #expect(first.localAddress?.hasPrefix("127.0.0.1:") == true)
            #expect(first.requestBodyBytes == 4)
            let second = try await Exchange(url, over: dispatcher).metrics
            #expect(second.connectionReused == true)
            #expect(second.nameLookup == nil && second.connect == nil)
            #expect(second.localAddress == first.localAddress)
            #expect(second.requestBodyBytes == nil)
            for metrics in [first, second] {
                let (queued, firstByte) = (try #require(metrics.queued), try #require(metrics.firstByte))
                #expect(queued >= .zero && queued < firstByte && firstByte <= metrics.total)
                #expect(metrics.httpVersion == "1.1")
                #expect(metrics.remoteAddress == "127.0.0.1:\(server.port)")
                #expect(metrics.responseWireBytes == 5 && metrics.responseBodyBytes == 5)
                // In clear text, TLS values are unknown rather than 0.
                #expect(metrics.tls == nil && metrics.tlsVersion == nil && metrics.tlsCipher == nil)
            }
        }
    }

    @Test func `bytes are counted on the wire and decoded`() async throws {
        let packed = Gzip.zeros(count: 100_000)
        try await withServer(.response(fields: [("Content-Encoding", "gzip")], body: packed)) { server in
            let metrics = try await Exchange(server.url(), body: .bytes(Data(count: 50_000))) {
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
            let incomplete = try await atOnce(64) { [dispatcher] _ in
                var incomplete = 0
                for _ in 0..<20 {
                    let body: TransportRequest.Body =
                        isStreamed ? .once([bytes], length: bytes.count) : .bytes(bytes)
                    let metrics = try await Exchange(server.url(), over: dispatcher, body: body).metrics
                    if metrics.requestBodyBytes != bytes.count { incomplete += 1 }
                }
                return incomplete
            }
            #expect(incomplete.reduce(0, +) == 0)
        }
    }

    /// libcurl counts the framing of chunks, too.
    @Test func `a streamed body has its own bytes`() async throws {
        try await withServer(.ok()) { server in
            let metrics = try await Exchange(server.url(), over: dispatcher, body: .once("a", "bc")).metrics
            #expect(metrics.requestBodyBytes == 3)
            #expect(server.requests.first?.body == Data("abc".utf8))
        }
    }

    /// libcurl gives up at the fifth retry that a handle has counted since its last reset.
    @Test func `retries of many requests do not add up`() async throws {
        try await withServer(.once) { server in
            for round in 0..<20 {
                let metrics = try await Exchange(server.url(), over: dispatcher).metrics
                #expect(metrics.resends == min(round, 1) && metrics.connectionReused == false)
                #expect(server.connectionCount == round + 1)
            }
        }
    }

    @Test func `the wait for a turn is counted`() async throws {
        let gate = Gate()
        try await withServer([
            .forEachRequest([.wait(until: gate), .pause(.milliseconds(50)), .ok()])
        ]) { server in
            let narrow = CurlNetworkDispatcher { ($0.maximumConnectionsPerOrigin, $0.maximumQueued) = (1, 1) }
            let url = server.url()
            let first = Task { try await Exchange(url, over: narrow).metrics }
            try await server.wait { $0.requests.count == 1 }
            // Started on the loop's own thread, the two reach the loop in this order.
            let executor = try narrow.loopExecutor()
            let second = Task(executorPreference: executor) { try await Exchange(url, over: narrow).metrics }
            let third = Task(executorPreference: executor) { try await Exchange(url, over: narrow).metrics }
            // The third one is refused, so the second one must be waiting.
            await expectFailure(.overloaded) { try await third.value }
            gate.open()
            _ = try await first.value
            let late = try await second.value
            let wait = try #require(late.queued)
            #expect(wait >= .milliseconds(50) && wait <= late.total)
        }
    }
}
