import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

@Suite("Rate options", .patience(minutes: 1))
struct RateOptionTests {
    @Test func `receiving is slowed down`() async throws {
        let size = 1_000_000
        try await withServer(.response(body: Data(count: size))) { server in
            let exchange = try await Exchange(server.url()) { $0.rate.maximumReceivedPerSecond = 200_000 }
            #expect(exchange.text.utf8.count == size)
            // Five seconds' worth of data, of which newer libcurl versions take two at once.
            #expect(exchange.metrics.total >= .milliseconds(2_800))
        }
    }

    @Test func `sending is slowed down`() async throws {
        try await withServer(.ok("x")) { server in
            let exchange = try await Exchange(server.url(), body: .bytes(Data(count: 400_000))) {
                $0.rate.maximumSentPerSecond = 200_000
            }
            #expect(server.requests.first?.body.count == 400_000)
            #expect(exchange.metrics.total >= .seconds(1))
        }
    }

    /// Regression: libcurl moves 64 to 100 KiB at once and then pauses, which counted as idleness.
    @Test func `a pause that keeps a rate is not idleness`() async throws {
        try await withServer(.response(body: Data(count: 150_000))) { server in
            let received = try await Exchange(server.url()) {
                ($0.rate.maximumReceivedPerSecond, $0.idleTimeout) = (50_000, .milliseconds(500))
            }
            #expect(received.text.utf8.count == 150_000)
            let body = TransportRequest.Body.bytes(Data(count: 64 << 10))
            let sent = try await Exchange(server.url(), over: CurlNetworkDispatcher(), body: body) {
                ($0.rate.maximumSentPerSecond, $0.idleTimeout) = (40_000, .milliseconds(500))
            }
            #expect(sent.status == 200)
        }
    }

    /// libcurl 8.23 forgets one of two such transfers.
    @Test(arguments: [true, false])
    func `transfers with rates do not hold one another up`(isUpload: Bool) async throws {
        try await withServer(.ok("x")) { server in
            try await withServer(.response(body: Data(count: 1_000_000))) { other in
                let dispatcher = CurlNetworkDispatcher()
                let body = isUpload ? TransportRequest.Body.bytes(Data(count: 400_000)) : nil
                async let longer = Exchange(other.url(), over: dispatcher, body: body) {
                    $0.rate.maximumReceivedPerSecond = 200_000
                }
                let sent = try await Exchange(
                    server.url(), over: dispatcher, body: .bytes(Data(count: 64 << 10))
                ) { $0.rate.maximumSentPerSecond = 40_000 }
                // A forgotten transfer ends with the total timeout.
                #expect(sent.status == 200 && sent.metrics.total < .seconds(20))
                #expect(try await longer.status == 200)
            }
        }
    }

    @Test func `a transfer too slow for too long ends`() async throws {
        let head = Script.head(200, fields: [("Content-Length", "100000")])
        let drops = Script.Step.sendSplit(Data(count: 2_000), each: 1, pause: .milliseconds(50))
        try await withServer([.read, .send(head), drops]) { server in
            _ = await expectFailure(.lowSpeed, in: .receiving) {
                try await Exchange(server.url()) {
                    // It counts from the start, and the head has to arrive before.
                    $0.rate.lowSpeed = .init(bytesPerSecond: 1_000, for: .seconds(2 * patienceFactor))
                }
            }
        }
    }

    /// While the body is not read, the server is stopped rather than slow.
    @Test func `a reader's pause is not slowness`() async throws {
        let size = 8_000_000
        try await withServer(.response(body: Data(count: size))) { server in
            let response = try await CurlNetworkDispatcher().start(server.url()) {
                $0.totalTimeout = .seconds(55 * patienceFactor)
                $0.rate.lowSpeed = .init(bytesPerSecond: 1_000, for: .seconds(patienceFactor))
            }
            var body = response.body.makeAsyncIterator()
            var count = try #require(try await body.next()).count
            // In the meantime, another server takes its time.
            try await withServer([.read, .pause(.milliseconds(3_500 * patienceFactor)), .ok()]) { slow in
                _ = try await Exchange(slow.url())
            }
            #expect(response.metrics.responseBodyBytes.map { $0 < size } == true)
            while let piece = try await body.next() { count += piece.count }
            #expect(count == size)
        }
    }

    @Test func `the first byte has its own clock`() async throws {
        try await withServer(.stalled) { server async throws in
            let error = await expectFailure(.firstByteTimeout, in: .waiting) {
                try await Exchange(server.url()) { $0.firstByteTimeout = .milliseconds(300) }
            }
            #expect(try #require(error?.exchange).elapsed >= .milliseconds(300))
        }
    }

    @Test func `the first byte stops its clock`() async throws {
        let head = Script.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n")
        try await withServer([.read, head, .pause(.milliseconds(3_000 * patienceFactor)), .send("x")]) { server in
            let exchange = try await Exchange(server.url()) {
                $0.firstByteTimeout = .milliseconds(2_500 * patienceFactor)
            }
            #expect(exchange.text == "x")
        }
    }
}
