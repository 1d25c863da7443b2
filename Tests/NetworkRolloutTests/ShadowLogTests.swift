import Foundation
import NetworkLayer
import NetworkTesting
import Synchronization
import Testing
import TestSupport

@testable import NetworkRollout

/// What the log of a shadow has, and what it costs.
@Suite(.patience(minutes: 1))
struct ShadowLogTests: ShadowSuite {
    let differences = Differences()

    @Test func `each kind of difference is logged for a host, with its share and without secrets`() async throws {
        let log = CanaryLog()
        let secret = HTTPField.Name("X-Api-Key")!
        let transport = ShadowTransport(
            primary: StubTransport(always: .text("x", headerFields: [secret: "classified"])),
            shadow: StubTransport(always: .text("y", headerFields: [secret: "classified too"])), options: always,
            logger: log.logger)
        for _ in 0..<99 { try await get(transport) }
        #expect(transport.counts.differences == 99)
        #expect(log.messages.count == 2)
        let line = try #require(log.messages.first)
        #expect(
            line.contains(
                "the shadow stub differs from stub in 1 of 1 compared responses (100 %): GET http://example.test/users"
            ))
        #expect(line.contains("field:x-api-key") && line.contains("text:1/1"))
        #expect(!line.contains("classified"))
    }

    @Test func `a difference is logged again at its occurrences 10, 100 and 1,000, with its share`() async throws {
        let log = CanaryLog()
        let requests = Guarded(0)
        let shadow = ClosureTransport { _ in
            let number = requests.withLock { number in
                number += 1
                return number
            }
            let body = Data((number % 2 == 0 ? "x" : "y").utf8)
            return TransportResponse(head: HTTPResponse(status: .ok), body: .init(body))
        }
        let transport = ShadowTransport(
            primary: ClosureTransport { _ in
                TransportResponse(head: HTTPResponse(status: .ok), body: .init(Data("x".utf8)))
            }, shadow: shadow, options: always, logger: log.logger)
        for _ in 0..<1_999 { try await get(transport) }
        let shares = ["1 of 1 ", "10 of 19 ", "100 of 199 ", "1000 of 1999 "]
        #expect(log.messages.count == shares.count)
        for (line, share) in zip(log.messages, shares) { #expect(line.contains(" in \(share)compared responses (")) }
        #expect(log.messages.last?.contains("(50 %)") == true)
    }

    @Test func `values of bodies are for the handler, and not for logs`() async throws {
        let log = CanaryLog()
        func stub(_ name: String) -> StubTransport {
            StubTransport(
                always: .text(#"{"name":"\#(name)"}"#, headerFields: [.contentType: "application/json", .server: name]))
        }
        try await get(
            ShadowTransport(primary: stub("Ada1"), shadow: stub("Ada2"), options: always, logger: log.logger))
        let line = try #require(log.messages.first)
        #expect(line.contains("json:/name") && line.contains("field:server 'Ada1' / 'Ada2'"), "\(line)")
        #expect(!line.contains("json:/name 'Ada") && line.components(separatedBy: "Ada").count == 5, "\(line)")
        let (stream, differences) = AsyncStream<ShadowTransport.Difference>.makeStream()
        try await get(
            ShadowTransport(primary: stub("Ada1"), shadow: stub("Ada2"), options: always) { differences.yield($0) })
        differences.finish()
        let difference = try #require(await stream.first { _ in true })
        #expect(difference.places.last?.primary == "'Ada1'")
        for text in ["\(difference)", String(reflecting: difference), "\(difference.places)"] {
            #expect(text.components(separatedBy: "Ada").count == 3, "\(text)")
        }
    }

    /// Regression: a path repeats the keys above it, so that 56 KB had 470 MB of names, and one line of the log 10 MB.
    @Test(arguments: ["k", "\\u0001"]) func `a small body with long paths costs little`(letter: String) async throws {
        func response(_ value: Int) -> StubTransport {
            let key = String(repeating: letter, count: 120)
            var text = "[" + (0..<2_000).map { "\($0 + value)" }.joined(separator: ",") + "]"
            for _ in 0..<50 { text = #"{"\#(key)":\#(text)}"# }
            return StubTransport(always: .text(text, headerFields: [.contentType: "application/json"]))
        }
        let log = CanaryLog()
        let transport = ShadowTransport(
            primary: response(1), shadow: response(2), options: always, logger: log.logger)
        let start = ContinuousClock.now
        try await get(transport)
        #expect(transport.counts.differences == 1)
        // Seen: a tenth of a second; over a minute in a debug build before.
        #expect(ContinuousClock.now - start < .seconds(20))
        #expect(log.messages.count == 1 && log.messages.allSatisfy { $0.utf8.count < 20_000 })
    }

    /// The names of places are the server's, and so are their number and length.
    @Test func `a log line about many places is short`() async throws {
        func response(_ value: Int) -> StubTransport {
            let long = String(repeating: "k", count: 120)
            let members = (0..<300).map { #""\#(long)\#($0)":{"\#(long)":\#($0 + value)}"# }.joined(separator: ",")
            return StubTransport(always: .text("{\(members)}", headerFields: [.contentType: "application/json"]))
        }
        let log = CanaryLog()
        try await get(
            ShadowTransport(primary: response(1), shadow: response(2), options: always, logger: log.logger))
        let line = try #require(log.messages.first)
        #expect(line.utf8.count < 10_000 && line.contains("; and 80 more"), "\(line.suffix(200))")
    }
}
