import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

@Suite("How fast, and how slow", .timeLimit(.minutes(1)))
struct RateOptionTests {
    @Test func receivingIsSlowedDown() async throws {
        // Newer libcurls let a burst through before they slow down.
        let server = try ScriptedServer(.answer(fields: [], body: Data(count: 1_000_000)))
        defer { server.stop() }
        let exchange = try await OptionExchange(server.url()) { $0.rate.maximumReceived = 200_000 }
        #expect(exchange.text.utf8.count == 1_000_000)
        #expect(exchange.metrics.total >= .seconds(1))
    }

    @Test func sendingIsSlowedDown() async throws {
        let server = try ScriptedServer(.ok("x"))
        defer { server.stop() }
        let exchange = try await OptionExchange(server.url(), body: Data(count: 400_000)) {
            $0.rate.maximumSent = 200_000
        }
        #expect(server.requests.first?.body.count == 400_000)
        #expect(exchange.metrics.total >= .seconds(1))
    }

    @Test func whatIsTooSlowForTooLongEnds() async throws {
        let head = Script.head(200, fields: [("Content-Length", "100000")])
        let server = try ScriptedServer([
            .read, .send(head), .sendSplit(Data(count: 2_000), each: 1, pause: 50),
        ])
        defer { server.stop() }
        let error = await expectFailure(.lowSpeed) {
            try await OptionExchange(server.url()) {
                $0.rate.lowSpeed = .init(bytesPerSecond: 1_000, for: .seconds(1))
            }
        }
        #expect(error?.phase == .receiving)
    }

    @Test func theFirstByteHasItsOwnClock() async throws {
        let server = try ScriptedServer(.stalled)
        defer { server.stop() }
        let error = await expectFailure(.firstByteTimeout) {
            try await OptionExchange(server.url()) { $0.firstByteTimeout = .milliseconds(300) }
        }
        #expect(error?.phase == .waiting)
        #expect(try #require(error?.exchange).elapsed >= .milliseconds(300))
    }

    @Test func theFirstByteStopsItsClock() async throws {
        let server = try ScriptedServer([
            .read, .send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n"), .pause(milliseconds: 1_500), .send("x"),
        ])
        defer { server.stop() }
        let exchange = try await OptionExchange(server.url()) { $0.firstByteTimeout = .milliseconds(700) }
        #expect(exchange.text == "x")
    }
}
