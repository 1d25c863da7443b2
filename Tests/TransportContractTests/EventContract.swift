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
    private static let chunked = head + "Transfer-Encoding: chunked\r\n\r\n"
    private static let gone: Script = .raw("HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n")

    private static let busy = "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

    private func event(_ number: Int) -> String { "id: \(number)\ndata: event \(number)\n\n" }

    private func chunk(_ text: String) -> String { "\(String(text.utf8.count, radix: 16))\r\n\(text)\r\n" }

    private func stream(
        _ transport: ContractTransport,
        _ server: ScriptedServer,
        pauses: RecordedPauses = RecordedPauses(),
        failures: Int? = 10
    ) async throws -> ServerSentEvents {
        var client = NetworkClient(transport: transport.transport)
        client.options.idleTimeout = .seconds(20)
        var options = ServerSentEvents.Options()
        options.time = pauses.time
        options.maximumFailures = failures
        return try await client.send(RequestData(path: server.url()), as: .events(options)).body
    }

    private func stream(
        _ method: HTTPRequest.Method, _ transport: ContractTransport, _ server: ScriptedServer, reconnects: Bool = false
    ) async throws -> ServerSentEvents {
        var options = ServerSentEvents.Options()
        options.time = RecordedPauses().time
        options.reconnectsAnyMethod = reconnects
        let request = RequestData(path: server.url(), method: method)
        return try await NetworkClient(transport: transport.transport).send(request, as: .events(options)).body
    }

    @Test(arguments: ContractTransport.all)
    func `a POST is sent once`(transport: ContractTransport) async throws {
        let whole: Script = [.read, .send(Self.chunked + chunk(event(1)) + "0\r\n\r\n"), .close]
        let cut: Script = [.read, .send(Self.chunked + chunk(event(1))), .reset]
        for (script, isCut) in [(whole, false), (cut, true), (.closed, true), (.raw(Self.busy), true)] {
            let server = try ScriptedServer(script, whole, Self.gone)
            defer { server.stop() }
            var failure: (any Error)?
            do { for try await _ in try await stream(.post, transport, server) {} } catch { failure = error }
            #expect((failure is NetworkError) == isCut)
            #expect(server.requests.count == 1)
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a POST is sent again where the caller allows it`(transport: ContractTransport) async throws {
        let server = try ScriptedServer(
            [.read, .send(Self.chunked + chunk(event(1)) + "0\r\n\r\n"), .close], Self.gone)
        defer { server.stop() }
        for try await _ in try await stream(.post, transport, server, reconnects: true) {}
        #expect(server.requests.map(\.method) == ["POST", "POST"])
    }

    /// Regression: the caller's own id was sent again and again.
    @Test(arguments: ContractTransport.all)
    func `an id that the server resets is not sent again`(transport: ContractTransport) async throws {
        let events = { (text: String) -> Script in
            [.read, .send(Self.chunked + self.chunk(text) + "0\r\n\r\n"), .close]
        }
        let server = try ScriptedServer(
            events("data: a\n\n"), events("id: 7\ndata: b\n\nid\ndata: c\n\n"), Self.gone)
        defer { server.stop() }
        var options = ServerSentEvents.Options()
        options.time = RecordedPauses().time
        let request = RequestData(path: server.url(), headerFields: ["Last-Event-ID": "5"])
        let client = NetworkClient(transport: transport.transport)
        for try await _ in try await client.send(request, as: .events(options)).body {}
        #expect(server.requests.map { $0.values(of: "Last-Event-ID").first } == ["5", "5", nil])
    }

    @Test(arguments: ContractTransport.all)
    func `a stream that is cut five times loses no event`(transport: ContractTransport) async throws {
        let gate = Gate()
        let server = try ScriptedServer(
            // Ends within an event, within a chunk, before the head, by a reset, and with a 503 response.
            [.read, .send(Self.open + "retry: 700\n\n" + event(1) + event(2) + "id: 3\ndata: ev"), .close],
            [.read, .send(Self.chunked + chunk(event(3)) + "ff\r\nid: 4\nda"), .close],
            .closed,
            [.read, .send(Self.chunked + chunk(event(4))), .wait(until: gate), .reset],
            .raw(Self.busy),
            [.read, .send(Self.chunked + chunk(event(5)) + chunk(event(6)) + "0\r\n\r\n"), .close],
            Self.gone
        )
        defer { server.stop() }
        let pauses = RecordedPauses()
        var ids: [String] = []
        for try await event in try await stream(transport, server, pauses: pauses) {
            ids.append(event.id)
            #expect(event.data == "event \(event.id)")
            if event.id == "4" { gate.open() }
        }
        #expect(ids == ["1", "2", "3", "4", "5", "6"])
        #expect(
            server.requests.map { $0.values(of: "Last-Event-ID").first } == [nil, "2", "3", "3", "4", "4", "6"])
        #expect(server.requests.allSatisfy { $0.values(of: "Accept") == ["text/event-stream"] })
        #expect(server.requests.allSatisfy { $0.values(of: "Cache-Control") == ["no-cache"] })
        let first = Duration.milliseconds(700)
        #expect(pauses.all.count == 6)
        #expect(pauses.all.allSatisfy { $0 >= first && $0 <= first * 4 })
        #expect(pauses.all.first == first)
    }

    /// Regression: a gzip coding without its trailer counted as damage, and the stream ended with an error. A server
    /// that flushes each event has no reason to write a trailer when it goes away.
    @Test(arguments: ContractTransport.all, ["close", "last chunk", "chunk"])
    func `a coded stream that is cut loses no event`(transport: ContractTransport, end: String) async throws {
        let packed = { (number: Int) -> Data in Gzip.stored(Data(self.event(number).utf8)).dropLast(8) }
        let script = { (number: Int) -> Script in
            let bytes = packed(number)
            let head = Data((Self.head + "Content-Encoding: gzip\r\n").utf8)
            if end == "close" { return [.read, .send(head + Data("\r\n".utf8) + bytes), .close] }
            let size = Data("Transfer-Encoding: chunked\r\n\r\n\(String(bytes.count, radix: 16))\r\n".utf8)
            let rest = Data((end == "chunk" ? "\r\n" : "\r\n0\r\n\r\n").utf8)
            return [.read, .send(head + size + bytes + rest), .close]
        }
        let server = try ScriptedServer(script(1), script(2), script(3), Self.gone)
        defer { server.stop() }
        var ids: [String] = []
        for try await event in try await stream(transport, server) { ids.append(event.id) }
        #expect(ids == ["1", "2", "3"])
        #expect(server.requests.map { $0.values(of: "Last-Event-ID").first } == [nil, "1", "2", "3"])
    }

    @Test(arguments: ContractTransport.all)
    func `an event is there before the stream ends`(transport: ContractTransport) async throws {
        let gate = Gate()
        let server = try ScriptedServer(
            [
                .read, .send(Self.chunked + chunk("data: a\n\n")), .wait(until: gate), .send(chunk("data: b\n\n")),
                .close,
            ],
            Self.gone
        )
        defer { server.stop() }
        var events = try await stream(transport, server).makeAsyncIterator()
        #expect(try await events.next()?.data == "a")
        gate.open()
        #expect(try await events.next()?.data == "b")
        #expect(try await events.next() == nil)
        #expect(try await events.next() == nil)
    }

    @Test(arguments: ContractTransport.all)
    func `a server that wants no pause gets the shortest`(transport: ContractTransport) async throws {
        let server = try ScriptedServer(
            [.read, .send(Self.open + "retry: 0\nid: 1\ndata: a\n\n"), .close],
            [.read, .send(Self.open + "id: 2\u{1B}\ndata: b\n\n"), .close],
            Self.gone
        )
        defer { server.stop() }
        let pauses = RecordedPauses()
        var ids: [String] = []
        for try await event in try await stream(transport, server, pauses: pauses) { ids.append(event.id) }
        #expect(ids == ["1", "1"], "no field can hold the second id")
        #expect(server.requests.map { $0.values(of: "Last-Event-ID").first } == [nil, "1", "1"])
        #expect(pauses.all == [.milliseconds(500), .milliseconds(500)])
    }

    @Test(arguments: ContractTransport.all)
    func `a response that is no stream of events is an error`(transport: ContractTransport) async throws {
        let page = try ScriptedServer(
            .response(200, fields: [("Content-Type", "text/html")], body: Data("<html>".utf8)))
        let missing = try ScriptedServer(.response(404, body: Data("no".utf8)))
        defer {
            page.stop()
            missing.stop()
        }
        let error = await expectFailure(.unacceptableContentType) {
            for try await _ in try await stream(transport, page) {}
        }
        #expect(error?.response?.body == Data("<html>".utf8))
        await expectFailure(.unacceptableStatus) { for try await _ in try await stream(transport, missing) {} }
        #expect(page.requests.count == 1 && missing.requests.count == 1)
    }

    /// Regression: after the last failure, the error had no response.
    @Test(arguments: ContractTransport.all)
    func `the last failure has its response`(transport: ContractTransport) async throws {
        let server = try ScriptedServer(.response(503, body: Data("busy".utf8)))
        defer { server.stop() }
        let error = await expectFailure(.unacceptableStatus) {
            for try await _ in try await stream(transport, server, pauses: RecordedPauses(), failures: 2) {}
        }
        #expect(error?.response?.body == Data("busy".utf8))
        #expect(server.requests.count == 2)
    }

    @Test(arguments: ContractTransport.all)
    func `too many failures are thrown`(transport: ContractTransport) async throws {
        let server = try ScriptedServer(.closed)
        defer { server.stop() }
        let pauses = RecordedPauses()
        await expectFailure(.connectionLost) {
            for try await _ in try await stream(transport, server, pauses: pauses, failures: 3) {}
        }
        #expect(server.requests.count == 3)
        #expect(pauses.all.count == 2)
        #expect(pauses.all.first == .seconds(3))
    }

    @Test(arguments: ContractTransport.all)
    func `an event beyond its limit is an error, after the others`(transport: ContractTransport) async throws {
        let server = try ScriptedServer(
            [.read, .send(Self.chunked + chunk("data: a\n\ndata: \(String(repeating: "x", count: 100))\n\n")), .stall])
        defer { server.stop() }
        var options = ServerSentEvents.Options()
        options.maximumLineBytes = 50
        let client = NetworkClient(transport: transport.transport)
        let stream = try await client.send(RequestData(path: server.url()), as: .events(options)).body
        var events = stream.makeAsyncIterator()
        #expect(try await events.next()?.data == "a")
        let error = await expectFailure(.lineTooLong) { try await events.next() }
        #expect(error?.exchange?.transport == transport.kind)
        #expect(try await events.next() == nil)
    }

    @Test(arguments: ContractTransport.all)
    func `a cancelled reader ends the stream`(transport: ContractTransport) async throws {
        let server = try ScriptedServer([.read, .send(Self.chunked + chunk("data: a\n\n")), .stall])
        defer { server.stop() }
        let received = Gate()
        let events = try await stream(transport, server)
        let reader = Task {
            for try await _ in events { received.open() }
        }
        try await received.wait()
        reader.cancel()
        await expectFailure(.cancelled) { try await reader.value }
        try await server.wait { $0.connectionsEndedByPeer == 1 }
    }

    @Test(arguments: ContractTransport.all)
    func `a cancelled reader gets no event that had arrived`(transport: ContractTransport) async throws {
        let several = (1...3).map { event($0) }.joined()
        let server = try ScriptedServer([.read, .send(Self.chunked + chunk(several)), .stall])
        defer { server.stop() }
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
