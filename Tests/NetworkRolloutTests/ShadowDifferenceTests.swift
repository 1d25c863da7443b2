import Foundation
import NetworkLayer
import NetworkTesting
import Synchronization
import TestSupport
import Testing

@testable import NetworkRollout

/// What a shadow compares, and what it logs.
@Suite(.patience(minutes: 1))
struct ShadowDifferenceTests: ShadowSuite {
    let differences = Differences()

    @Test func `the same responses are counted, and nothing is reported`() async throws {
        let transport = transport(StubTransport(always: .json([1])), StubTransport(always: .json([1])))
        for _ in 0..<5 { #expect(try await get(transport) == Data("[1]".utf8)) }
        #expect(differences.all.isEmpty)
        let counts = transport.counts
        #expect(counts.requests == 5 && counts.shadowed == 5 && counts.same == 5)
    }

    @Test func `each part that differs is reported, and the response is the primary's`() async throws {
        let transport = transport(
            StubTransport(
                always: .text(#"{"a":1,"b":2}"#, headerFields: [.contentType: "application/json", .server: "x"])),
            StubTransport(
                always: .text(#"{"a":1,"b":3}"#, headerFields: [.contentType: "application/json", .server: "y"])))
        #expect(try await get(transport) == Data(#"{"a":1,"b":2}"#.utf8))
        let difference = try #require(differences.all.first)
        #expect(difference.places.map(\.name) == ["field:server", "json:/b"])
        #expect(difference.places.last?.primary == "'2'" && difference.places.last?.shadow == "'3'")
        #expect(difference.primary?.body == Data(#"{"a":1,"b":2}"#.utf8) && difference.primary?.isWhole == true)
        #expect(difference.shadow?.head.headerFields[.server] == "y")
        #expect(!difference.isKnown && transport.counts.differences == 1)
        #expect(!difference.description.contains("classified"))
    }

    @Test func `places that are ignored are no difference`() async throws {
        var options = always
        options.ignoredPlaces = ["field:server"]
        let transport = transport(
            StubTransport(always: .text("x", headerFields: [.server: "x"])),
            StubTransport(always: .text("x", headerFields: [.server: "y"])), options)
        try await get(transport)
        #expect(transport.counts.same == 1 && differences.all.isEmpty)
    }

    @Test func `places are ignored in JSON beyond the limit, too, and others are found there`() async throws {
        func response(_ time: Int, _ value: Int) -> StubTransport {
            let rest = (0..<2_000).map { #"{"id":\#($0)}"# }.joined(separator: ",")
            let text = #"{"time":\#(time),"value":\#(value),"list":[\#(rest)]}"#
            return StubTransport(always: .text(text, headerFields: [.contentType: "application/json"]))
        }
        var options = always
        (options.ignoredPlaces, options.maximumComparedBytes) = (["json:/time"], 10_000)
        let same = transport(response(1, 1), response(10_000, 1), options)
        try await get(same)
        #expect(same.counts.same == 1, "\(differences.places)")
        try await get(transport(response(1, 1), response(10_000, 2), options))
        #expect(differences.places == ["json:/value"])
    }

    @Test func `a status, an error and trailers are compared`() async throws {
        let broken = NetworkError(.connectionLost, "gone", phase: .receiving)
        let cut = StubResponse.chunks([Data("x".utf8)], thenFailing: broken)
        let pairs: [(StubResponse, StubResponse, [String])] = [
            (.status(200), .status(404), ["status"]),
            (.text("x"), cut, ["error"]),
            (.failure(NetworkError.connectTimeout), .failure(NetworkError.connectTimeout), []),
        ]
        for (own, other, places) in pairs {
            let transport = transport(StubTransport(always: own), StubTransport(always: other))
            _ = try? await get(transport)
            await transport.settle()
            let found = differences.all.last?.places.map(\.name) ?? []
            #expect(places.allSatisfy(found.contains), "\(found)")
            if places.isEmpty { #expect(transport.counts.same == 1) }
        }
    }

    @Test func `a known difference is counted by itself`() async throws {
        var fields = HTTPFields()
        fields.append(HTTPField(name: HTTPField.Name("X-A")!, value: "1"))
        fields.append(HTTPField(name: HTTPField.Name("X-A")!, value: "2"))
        let both = fields
        let curl = ClosureTransport(name: "curl") { _ in
            TransportResponse(head: HTTPResponse(status: .ok, headerFields: both), body: .init(Data()))
        }
        let session = ClosureTransport(name: "urlsession") { _ in
            TransportResponse(
                head: HTTPResponse(status: .ok, headerFields: [HTTPField.Name("X-A")!: "1, 2"]), body: .init(Data()))
        }
        let transport = transport(curl, session)
        try await get(transport)
        #expect(transport.counts.knownDifferences == 1 && transport.counts.differences == 0)
        #expect(differences.all.first?.isKnown == true)
    }

    @Test func `bodies are compared up to the limit, and as far as the program reads`() async throws {
        var options = always
        options.maximumComparedBytes = 1_000
        let long = Data(repeating: 1, count: 5_000)
        var other = long
        other[4_000] = 2
        let beyond = transport(StubTransport(always: .bytes(long)), StubTransport(always: .bytes(other)), options)
        #expect(try await get(beyond) == long)
        #expect(beyond.counts.same == 1)
        other[900] = 2
        let within = transport(StubTransport(always: .bytes(long)), StubTransport(always: .bytes(other)), options)
        #expect(try await get(within) == long)
        #expect(differences.places == ["text:1/1"])
        #expect(differences.all.first?.primary?.body.count == 1_000)
        #expect(differences.all.first?.primary?.isWhole == false)
        // A whole body that is shorter than what is known of the other one.
        let short = transport(
            StubTransport(always: .bytes(long)), StubTransport(always: .bytes(long.prefix(10))), options)
        _ = try await get(short)
        #expect(short.counts.differences == 1)
    }

    @Test func `of a body that is released the part that was read is compared`() async throws {
        let chunks = ["one", "two", "three"].map { Data($0.utf8) }
        let transport = transport(
            StubTransport(always: .chunks(chunks)), StubTransport(always: .chunks([chunks[0], Data("other".utf8)])))
        do {
            let response = try await transport.send(TransportRequest(url: url))
            var body = response.body.makeAsyncIterator()
            #expect(try await body.next() == chunks[0])
        }
        await transport.settle()
        #expect(transport.counts.same == 1, "\(transport.counts), \(differences.places)")
    }

    /// Regression: the reader's own limit was a failure of the primary.
    @Test func `a body beyond its reader's limit is no difference`() async throws {
        let body = Data(count: 100)
        let transport = transport(StubTransport(always: .bytes(body)), StubTransport(always: .bytes(body)))
        let response = try await transport.send(TransportRequest(url: url))
        await expectFailure(.bodyTooLarge) { _ = try await response.body.collect(upTo: 10) }
        await transport.settle()
        #expect(transport.counts.same == 1, "\(differences.places)")
    }

    /// Regression: only the last part of a path counted, values were cut before their secrets were left out, and names
    /// of members were printed as the server wrote them.
    @Test func `a difference shows no secret and no control character`() async throws {
        let own = HTTPField.Name("X-Foo")!
        func response(_ secret: String) -> StubResponse {
            .text(
                #"{"access_tokens":["\#(secret)"],"next":"https://u:\#(secret)@h/p?token=\#(secret)","a\u001b[2J\n":"\#(secret == "classified1")"}"#,
                headerFields: [
                    .contentType: "application/json", own: secret,
                    .location: "https://h/" + String(repeating: "a", count: 60) + "?code=\(secret)",
                ])
        }
        let log = CanaryLog()
        let transport = ShadowTransport(
            primary: StubTransport(always: response("classified1")),
            shadow: StubTransport(always: response("classified2")), options: always, logger: log.logger)
        var request = TransportRequest(url: url)
        request.options.secretFields = [own]
        try await transport.settled(request)
        let line = try #require(log.messages.first)
        #expect(line.contains("json:/access_tokens/…") && line.contains("field:x-foo"))
        #expect(!line.contains("classified"), "\(line)")
        #expect(!line.unicodeScalars.contains { $0.isInvisible }, "\(line)")
    }
}
