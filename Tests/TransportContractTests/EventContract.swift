import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

/// Streams of server-sent events, and their reconnection after they break.
@Suite(.patience(minutes: 1))
struct EventContract {
    private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
    private static let open = head + "\r\n"
    private static let gone: Script = .raw("HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n")
    private static let busy: Script = .raw(
        "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

    private static func event(_ number: Int) -> String { "id: \(number)\ndata: event \(number)\n\n" }

    /// Returns a step that sends a head and some chunks.
    private static func chunks(_ texts: String..., then rest: String = "") -> Script.Step {
        let chunks = texts.map { "\(String($0.utf8.count, radix: 16))\r\n\($0)\r\n" }.joined()
        return .send(head + "Transfer-Encoding: chunked\r\n\r\n" + chunks + rest)
    }

    /// Returns a connection with some chunks and the end of the stream.
    private static func whole(_ texts: String) -> Script { [.read, chunks(texts, then: "0\r\n\r\n"), .close] }

    private func stream(
        _ transport: ContractTransport, _ server: ScriptedServer, _ method: HTTPRequest.Method = .get,
        fields: [String: String] = [:], pauses: RecordedPauses = RecordedPauses(), failures: Int? = 10,
        _ change: (inout ServerSentEvents.Options) -> Void = { _ in }
    ) async throws -> ServerSentEvents {
        let client = NetworkClient(transport: transport.transport).with { $0.options.idleTimeout = .seconds(20) }
        var options = ServerSentEvents.Options()
        (options.time, options.maximumFailures) = (pauses.time, failures)
        change(&options)
        let request = RequestData(path: server.url(), method: method, headerFields: fields)
        return try await client.send(request, as: .events(options)).body
    }

    private func lastIDs(_ server: ScriptedServer) -> [String?] {
        server.requests.map { $0.values(of: "Last-Event-ID").first }
    }

    private static let ends: [(script: Script, isCut: Bool)] = [
        (whole(event(1)), false), ([.read, chunks(event(1)), .reset], true), (.closed, true), (busy, true),
    ]

    @Test(arguments: ContractTransport.all, ends)
    func `a POST is sent once`(transport: ContractTransport, end: (script: Script, isCut: Bool)) async throws {
        try await withServer(end.script, Self.whole(Self.event(1)), Self.gone) { server in
            var failure: (any Error)?
            do { for try await _ in try await stream(transport, server, .post) {} } catch { failure = error }
            #expect((failure is NetworkError) == end.isCut)
            #expect(server.requests.count == 1)
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a POST is sent again where the caller allows it`(transport: ContractTransport) async throws {
        try await withServer(Self.whole(Self.event(1)), Self.gone) { server in
            for try await _ in try await stream(transport, server, .post, { $0.reconnectsAnyMethod = true }) {}
            #expect(server.requests.map(\.method) == ["POST", "POST"])
        }
    }

    /// Regression: the caller's own id was sent again and again.
    @Test(arguments: ContractTransport.all)
    func `an id that the server resets is not sent again`(transport: ContractTransport) async throws {
        try await withServer(
            Self.whole("data: a\n\n"), Self.whole("id: 7\ndata: b\n\nid\ndata: c\n\n"), Self.gone
        ) { server in
            for try await _ in try await stream(transport, server, fields: ["Last-Event-ID": "5"]) {}
            #expect(lastIDs(server) == ["5", "5", nil])
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a stream that is cut five times loses no event`(transport: ContractTransport) async throws {
        let gate = Gate()
        let event = Self.event
        try await withServer(
            // Ends within an event, within a chunk, before the head, by a reset, and with a 503 response.
            .raw(Self.open + "retry: 700\n\n" + event(1) + event(2) + "id: 3\ndata: ev"),
            [.read, Self.chunks(event(3), then: "ff\r\nid: 4\nda"), .close], .closed,
            [.read, Self.chunks(event(4)), .wait(until: gate), .reset], Self.busy, Self.whole(event(5) + event(6)),
            Self.gone
        ) { server in
            let pauses = RecordedPauses()
            var ids: [String] = []
            for try await event in try await stream(transport, server, pauses: pauses) {
                ids.append(event.id)
                #expect(event.data == "event \(event.id)")
                if event.id == "4" { gate.open() }
            }
            #expect(ids == ["1", "2", "3", "4", "5", "6"])
            #expect(lastIDs(server) == [nil, "2", "3", "3", "4", "4", "6"])
            #expect(server.requests.allSatisfy { $0.values(of: "Accept") == ["text/event-stream"] })
            #expect(server.requests.allSatisfy { $0.values(of: "Cache-Control") == ["no-cache"] })
            let first = Duration.milliseconds(700)
            #expect(pauses.all.count == 6 && pauses.all.first == first)
            #expect(pauses.all.allSatisfy { $0 >= first && $0 <= first * 4 })
        }
    }

    /// Regression: a gzip coding without its trailer counted as damage, and the stream ended with an error. A server
    /// that flushes each event has no reason to write a trailer when it goes away.
    @Test(arguments: ContractTransport.all, ["close", "last chunk", "chunk"])
    func `a coded stream that is cut loses no event`(transport: ContractTransport, end: String) async throws {
        func script(_ number: Int) -> Script {
            let bytes = Gzip.stored(Data(Self.event(number).utf8)).dropLast(8)
            let head = Data((Self.head + "Content-Encoding: gzip\r\n").utf8)
            if end == "close" { return .raw(head + Data("\r\n".utf8) + bytes) }
            let size = Data("Transfer-Encoding: chunked\r\n\r\n\(String(bytes.count, radix: 16))\r\n".utf8)
            return .raw(head + size + bytes + Data((end == "chunk" ? "\r\n" : "\r\n0\r\n\r\n").utf8))
        }
        try await withServer(script(1), script(2), script(3), Self.gone) { server in
            var ids: [String] = []
            for try await event in try await stream(transport, server) { ids.append(event.id) }
            #expect(ids == ["1", "2", "3"])
            #expect(lastIDs(server) == [nil, "1", "2", "3"])
        }
    }

    @Test(arguments: ContractTransport.all)
    func `an event is there before the stream ends`(transport: ContractTransport) async throws {
        let gate = Gate()
        try await withServer(
            [.read, Self.chunks("data: a\n\n"), .wait(until: gate), .send("9\r\ndata: b\n\n\r\n"), .close], Self.gone
        ) { server in
            var events = try await stream(transport, server).makeAsyncIterator()
            #expect(try await events.next()?.data == "a")
            gate.open()
            #expect(try await events.next()?.data == "b")
            #expect(try await events.next() == nil)
            #expect(try await events.next() == nil)
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a server that wants no pause gets the shortest`(transport: ContractTransport) async throws {
        try await withServer(
            .raw(Self.open + "retry: 0\nid: 1\ndata: a\n\n"), .raw(Self.open + "id: 2\u{1B}\ndata: b\n\n"), Self.gone
        ) { server in
            let pauses = RecordedPauses()
            var ids: [String] = []
            for try await event in try await stream(transport, server, pauses: pauses) { ids.append(event.id) }
            #expect(ids == ["1", "1"], "no field can hold the second id")
            #expect(lastIDs(server) == [nil, "1", "1"])
            #expect(pauses.all == [.milliseconds(500), .milliseconds(500)])
        }
    }

    // MARK: Errors

    private static let refusals:
        [(script: Script, failures: Int?, code: NetworkError.Code, body: String?, requests: Int)] =
            [
                (
                    .response(200, fields: [("Content-Type", "text/html")], body: Data("<html>".utf8)), 10,
                    .unacceptableContentType, "<html>", 1
                ),
                (.response(404, body: Data("no".utf8)), 10, .unacceptableStatus, "no", 1),
                // Regression: after the last failure, the error had no response.
                (.response(503, body: Data("busy".utf8)), 2, .unacceptableStatus, "busy", 2),
                (.closed, 3, .connectionLost, nil, 3),
            ]

    @Test(arguments: ContractTransport.all, refusals.indices)
    func `a response that is no stream, and too many failures, are errors`(
        transport: ContractTransport, index: Int
    ) async throws {
        let row = Self.refusals[index]
        try await withServer(row.script) { server in
            let pauses = RecordedPauses()
            let error = await expectFailure(row.code) {
                for try await _ in try await stream(transport, server, pauses: pauses, failures: row.failures) {}
            }
            #expect(error?.response?.body == row.body.map { Data($0.utf8) })
            #expect(server.requests.count == row.requests && pauses.all.count == row.requests - 1)
            #expect(row.requests == 1 || pauses.all.first == .seconds(3))
        }
    }

    @Test(arguments: ContractTransport.all)
    func `an event beyond its limit is an error, after the others`(transport: ContractTransport) async throws {
        let long = "data: a\n\ndata: \(String(repeating: "x", count: 100))\n\n"
        try await withServer([.read, Self.chunks(long), .stall]) { server in
            var events = try await stream(transport, server) { $0.maximumLineBytes = 50 }.makeAsyncIterator()
            #expect(try await events.next()?.data == "a")
            let error = await expectFailure(.lineTooLong) { try await events.next() }
            #expect(error?.exchange?.transport == transport.kind)
            #expect(try await events.next() == nil)
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a cancelled reader ends the stream`(transport: ContractTransport) async throws {
        try await withServer([.read, Self.chunks("data: a\n\n"), .stall]) { server in
            let received = Gate()
            let events = try await stream(transport, server)
            let reader = Task { for try await _ in events { received.open() } }
            try await received.wait()
            reader.cancel()
            await expectFailure(.cancelled) { try await reader.value }
            try await server.wait { $0.connectionsEndedByPeer == 1 }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a cancelled reader gets no event that had arrived`(transport: ContractTransport) async throws {
        try await withServer([.read, Self.chunks((1...3).map(Self.event).joined()), .stall]) { server in
            let received = Gate()
            let events = try await stream(transport, server)
            let reader = Task { () async throws -> Void in
                var iterator = events.makeAsyncIterator()
                #expect(try await iterator.next()?.id == "1")
                received.open()
                while !Task.isCancelled { await Task.yield() }
                await expectFailure(.cancelled) { try await iterator.next() }
                #expect(try await iterator.next() == nil)
            }
            try await received.wait()
            reader.cancel()
            try await reader.value
        }
    }
}
