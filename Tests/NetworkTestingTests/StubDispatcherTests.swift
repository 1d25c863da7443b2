import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

private struct Row: Codable, Equatable {
    let id: Int
}

@Suite(.timeLimit(.minutes(1)))
struct StubDispatcherTests {
    private let stub = StubDispatcher()
    private let get = RequestData(path: "http://h/rows?page=1", headers: ["X-A": "1"])

    @Test func answers_areGivenInOrderAndOnce() async throws {
        stub.when(.get("/rows"), .status(503), .json([Row(id: 1)]))
        await expectFailure(.unacceptableStatus) { try await stub.send(get, as: .data).body }
        #expect(try await get.send(as: [Row].self, over: stub).body == [Row(id: 1)])
        try stub.checkAllUsed()
        let error = await expectFailure(.notStubbed) { try await stub.send(get, as: .data).body }
        let words = ["GET http://h/rows?…", "GET /rows (2 of 2 answers given)"]
        for word in words { #expect(error?.message.contains(word) == true, "\(String(describing: error))") }
        let failure = #expect(throws: StubFailure.self) { try stub.checkAllUsed() }
        #expect(failure?.problems == ["GET http://h/rows?… was asked and is not stubbed"])
    }

    @Test func predicates_chooseInTheOrderOfTheStubs() async throws {
        stub.when(.get("/rows").with("page 2") { $0.query == "page=2" }, .text("two"))
        stub.always(.any, .text("any"))
        #expect(try await stub.send(get, as: .data).body == Data("any".utf8))
        #expect(try await stub.send(RequestData(path: "http://h/rows?page=2"), as: .data).body == Data("two".utf8))
        #expect(try await stub.send(RequestData(path: "http://h/rows?page=2"), as: .data).body == Data("any".utf8))
        #expect(
            try await stub.send(RequestData(path: "http://h/", method: .delete), as: .data).body == Data("any".utf8))
        try stub.checkAllUsed()
    }

    @Test func whatIsLeft_isListed() async throws {
        stub.when(.post("/rows"), .status(200), .status(200)).always(.put("/x"), .status(200))
        _ = try await stub.send(RequestData(path: "http://h/rows", method: .post), as: .data).body
        let failure = try #require(throws: StubFailure.self) { try stub.checkAllUsed() }
        #expect(
            failure.description == """
                POST /rows (1 of 2 answers given) was not used up
                PUT /x (always, given 0 times) was not used up
                """)
    }

    @Test func requests_areKept() async throws {
        stub.always(.any, .status(204))
        _ = try await stub.send(get, as: .data).body
        let content = RequestContent.json([Row(id: 3)])
        _ = try await stub.send(RequestData(path: "http://h/rows", method: .post, content: content), as: .data).body
        #expect(stub.sent.map(\.target) == ["/rows?page=1", "/rows"])
        #expect(stub.sent[0].headerFields[HTTPField.Name("X-A")!] == "1")
        #expect(stub.sent[0].headerFields[.accept] == "*/*")
        #expect(stub.sent[0].body.isEmpty)
        #expect(try stub.sent[1].json([Row].self) == [Row(id: 3)])
        #expect(stub.sent[1].text == #"[{"id":3}]"#)
    }

    @Test func failure_isTheCallers() async throws {
        struct Own: Error, Equatable {}
        stub.when(.any, .failure(NetworkError.connectTimeout), .failure(Own()))
        let error = await expectFailure(.connectTimeout) { try await stub.send(get, as: .data).body }
        #expect(error?.exchange?.transport == "stub")
        await #expect(throws: Own()) { try await stub.send(get, as: .data).body }
    }

    @Test func answer_isComputedFromTheRequest() async throws {
        stub.always(.any, .computed { .text($0.method.rawValue + $0.text, status: 201) })
        let data = RequestData(path: "http://h/", method: .put, content: .text("!"))
        let response = try await NetworkClient(transport: stub).send(data, as: .data)
        #expect(response.status == .created)
        #expect(response.body == Data("PUT!".utf8))
    }

    @Test func body_comesInPieces() async throws {
        let pieces = ["a", "", "bc"].map { Data($0.utf8) }
        let broken = NetworkError(.truncatedBody, "cut")
        stub.when(.any, .chunks(pieces), .chunks(pieces, thenFailing: broken), .chunks(pieces, thenFailing: broken))
        let client = NetworkClient(transport: stub)
        var chunks: [Data] = []
        for try await chunk in try await client.send(get, as: .stream).body { chunks.append(chunk) }
        #expect(chunks == [Data("a".utf8), Data("bc".utf8)])
        let body = try await client.send(get, as: .stream).body
        chunks = []
        await expectFailure(.truncatedBody) { for try await chunk in body { chunks.append(chunk) } }
        #expect(chunks.count == 2)
        await expectFailure(.truncatedBody) { try await stub.send(get, as: .data).body }
    }

    @Test func bodyAboveTheLimit_isRefused() async throws {
        stub.always(.any, .text("12345"))
        var client = NetworkClient(transport: stub)
        client.options.maximumBodyBytes = 4
        await expectFailure(.bodyTooLarge) { try await client.send(get, as: .data).body }
    }

    @Test func delay_waitsOnTheClock() async throws {
        let clock = ManualClock()
        let stub = StubDispatcher(clock: clock).when(.any, .text("late").after(.seconds(50)))
        async let body = stub.send(get, as: .data).body
        await clock.sleepers(1)
        clock.advance(by: .seconds(49))
        #expect(clock.now.offset == .seconds(49))
        clock.advance(by: .seconds(1))
        #expect(try await body == Data("late".utf8))
    }

    @Test func delayBeyondATimeout_isThatTimeout() async throws {
        let clock = ManualClock()
        let stub = StubDispatcher(clock: clock).always(.any, .text("late").after(.seconds(3600)))
        async let idle = expectFailure(.idleTimeout) { try await stub.send(get, as: .data).body }
        await clock.sleepers(1)
        clock.advance(by: .seconds(60))
        _ = await idle
        var request = try get.transportRequest()
        request.options.idleTimeout = nil
        request.options.firstByteTimeout = .seconds(2)
        async let first = expectFailure(.firstByteTimeout) { [request] in try await stub.send(request) }
        await clock.sleepers(1)
        clock.advance(by: .seconds(2))
        _ = await first
    }

    @Test func cancellation_endsADelay() async throws {
        let clock = ManualClock()
        let stub = StubDispatcher(clock: clock).always(.any, .status(200).after(.seconds(5)))
        let task = Task { try await stub.send(get, as: .data).body }
        await clock.sleepers(1)
        task.cancel()
        await expectFailure(.cancelled) { try await task.value }
    }

    @Test func whatItLacks_isRefused() async throws {
        let stub = StubDispatcher(lacking: [.bodyOnGet])
        let data = RequestData(path: "http://h/", content: .text("x"))
        await expectFailure(.unsupported) { try await stub.send(data, as: .data).body }
        #expect(stub.sent.isEmpty)
    }

    @Test func clock_wakesInOrderAndForgetsTheCancelled() async throws {
        let clock = ManualClock()
        let (woken, wake) = AsyncStream<Int>.makeStream()
        let sleepers = [3, 1, 2].map { seconds in
            Task {
                try await clock.sleep(for: .seconds(seconds))
                wake.yield(seconds)
            }
        }
        await clock.sleepers(3)
        var order = woken.makeAsyncIterator()
        for step in 1...3 {
            clock.advance(by: .seconds(1))
            #expect(await order.next() == step)
        }
        for sleeper in sleepers { try await sleeper.value }
        try await clock.sleep(until: clock.now)
        let task = Task { try await clock.sleep(for: .seconds(1)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
