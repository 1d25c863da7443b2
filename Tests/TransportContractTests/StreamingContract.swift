import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

/// The body of a response as seen by its reader.
@Suite(.serialized, .patience(minutes: 1), .ownProcess)
struct StreamingContract {
    /// Returns a step that sends a head that announces a body, and the body's start.
    private static func head(_ length: Int, _ start: String = "") -> Script.Step {
        .send("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n\(start)")
    }

    /// Returns a server's script that is silent for some time.
    private static func silent(milliseconds: Int) -> Script {
        [.read, .pause(.milliseconds(milliseconds)), .send("HTTP/1.1 204 x\r\n\r\n"), .close]
    }

    @Test(arguments: ContractTransport.all)
    func `the head arrives before the body`(transport: ContractTransport) async throws {
        let gate = Gate()
        try await withServer([.read, Self.head(2), .wait(until: gate), .send("ok"), .close]) { server in
            let response = try await transport.start(.get, server.url())
            #expect(response.head.status == .ok)
            #expect(response.metrics.responseBodyBytes == 0)
            gate.open()
            #expect(try await response.body.collect() == Data("ok".utf8))
            #expect(response.metrics.responseBodyBytes == 2)
            let total = response.metrics.total
            #expect(try #require(response.metrics.firstByte) <= total)
            #expect(response.metrics.total == total, "the clock must have stopped")
        }
    }

    @Test(arguments: ContractTransport.all)
    func `chunks arrive as they are sent`(transport: ContractTransport) async throws {
        let gates = [Gate(), Gate()]
        try await withServer([
            .read, .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), .wait(until: gates[0]),
            .send("3\r\none\r\n"), .wait(until: gates[1]), .send("3\r\ntwo\r\n0\r\n\r\n"), .close,
        ]) { server in
            let response = try await transport.start(.get, server.url())
            var chunks = response.body.makeAsyncIterator()
            gates[0].open()
            #expect(try await chunks.next() == Data("one".utf8))
            gates[1].open()
            #expect(try await chunks.next() == Data("two".utf8))
            #expect(try await chunks.next() == nil)
            #expect(try await chunks.next() == nil)
        }
    }

    @Test(arguments: ContractTransport.all)
    func `trailers come with the end`(transport: ContractTransport) async throws {
        try await transport.run(.trailers) {
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            try await withServer(.raw(head + "3\r\none\r\n0\r\nT: 1\r\nU: 2\r\n\r\n")) { server in
                let response = try await transport.start(.get, server.url())
                #expect(try await response.body.collect() == Data("one".utf8))
                #expect(response.body.trailers?.map { "\($0.name.rawName)=\($0.value)" } == ["T=1", "U=2"])
            }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a slow reader stops the server`(transport: ContractTransport) async throws {
        let size = 64 << 20
        try await withServer([.read, Self.head(size), .send(Data(count: size)), .close]) { server in
            let response = try await transport.start(.get, server.url()) {
                // All of the body and fifty other exchanges take long under a sanitizer.
                $0.totalTimeout = .seconds(30 * patienceFactor)
            }
            var chunks = response.body.makeAsyncIterator()
            let first = try #require(try await chunks.next())
            // Other exchanges go on in the meantime.
            try await withServer(.ok("x")) { other in
                for _ in 0..<50 { _ = try await transport.send(.get, other.url()) }
            }
            try await transport.run(.backPressure) {
                let taken = try #require(response.metrics.responseBodyBytes)
                // At most one mebibyte and one chunk wait for the reader, in addition to the chunk that it has.
                #expect(taken - first.count <= (1 << 20) + (64 << 10))
            }
            var total = first.count
            while let chunk = try await chunks.next() { total += chunk.count }
            #expect(total == size)
        }
    }

    /// Over curl, the transfer is paused and resumed many times here.
    @Test(arguments: ContractTransport.all)
    func `a waiting reader is not forgotten, a hundred times`(transport: ContractTransport) async throws {
        let size = 2 << 20
        try await withServer(.response(body: Data(count: size))) { server in
            for round in 0..<100 {
                let response = try await transport.start(.get, server.url())
                var total = 0
                for try await chunk in response.body {
                    total += chunk.count
                    if round % 3 == 0 { await Task.yield() }
                }
                #expect(total == size)
            }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a dropped body keeps the connection when its rest is small`(transport: ContractTransport) async throws {
        try await withServer(.ok(String(repeating: "x", count: 10_000))) { server in
            for _ in 0..<20 { _ = try await transport.start(.get, server.url()).head }
            #expect(try await transport.send(.get, server.url()).body.count == 10_000)
            #expect(server.requests.count == 21)
            try await transport.run(.immediateReuse) { #expect(server.connectionCount <= 2) }
            #expect(server.connectionCount < 21)
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a dropped body ends the connection when its rest is long`(transport: ContractTransport) async throws {
        try await withServer([.read, Self.head(100_000_000), .send(Data(count: 100_000)), .stall]) { server in
            for _ in 0..<100 {
                var response: TransportResponse? = try await transport.start(.get, server.url())
                #expect(response?.head.status == .ok)
                response = nil
            }
            try await server.wait { $0.connectionsEndedByPeer == 100 }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a failure comes after the bytes that arrived, once`(transport: ContractTransport) async throws {
        try await withServer(.truncated) { server in
            let response = try await transport.start(.get, server.url("/a?secret"))
            var chunks = response.body.makeAsyncIterator()
            #expect(try await chunks.next() == Data("0123456789".utf8))
            let error = await expectFailure(.truncatedBody, in: .receiving) { try await chunks.next() }
            #expect(error?.exchange?.transport == transport.kind)
            #expect(error?.exchange?.url == server.url("/a?…"))
            #expect(try await chunks.next() == nil)
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a second reader is refused`(transport: ContractTransport) async throws {
        try await withServer([.read, Self.head(9), .stall]) { server in
            let response = try await transport.start(.get, server.url())
            // The second of the two is refused; the other one waits until it is cancelled.
            let readers = (0..<2).map { _ in Task { try await response.body.collect() } }
            let codes = await withTaskGroup(of: NetworkError.Code?.self) { group in
                for reader in readers {
                    group.addTask {
                        guard case .failure(let error) = await reader.result else { return nil }
                        return NetworkError.code(of: error)
                    }
                }
                let refused = await group.next()
                for reader in readers { reader.cancel() }
                return [refused ?? nil] + (await group.reduce(into: []) { $0.append($1) })
            }
            #expect(codes == [.bodyAlreadyRead, .cancelled])
        }
    }

    // MARK: Collecting

    @Test(arguments: ContractTransport.all, [true, false])
    func `collect keeps its limit, whether the length is known or not`(
        transport: ContractTransport, isKnown: Bool
    ) async throws {
        try await withServer(isKnown ? .ok("0123456789") : .raw("HTTP/1.1 200 OK\r\n\r\n0123456789")) { server in
            #expect(try await transport.start(.get, server.url()).body.collect(upTo: 10).count == 10)
            let response = try await transport.start(.get, server.url())
            await expectFailure(.bodyTooLarge) { try await response.body.collect(upTo: 9) }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `collect refuses an announced length at once`(transport: ContractTransport) async throws {
        try await withServer([.read, Self.head(1_000_000), .stall]) { server in
            let response = try await transport.start(.get, server.url())
            await expectFailure(.bodyTooLarge) { try await response.body.collect(upTo: 999_999) }
            try await server.wait { $0.connectionsEndedByPeer == 1 }
        }
    }

    /// Regression: the announced length counted whole, also where most of it had been read.
    @Test(arguments: ContractTransport.all, ["Content-Length: 6\r\n\r\none", "\r\none"])
    func `the rest is collected after the first chunk, and has the limit alone`(
        transport: ContractTransport, start: String
    ) async throws {
        for limit in [nil, 3] {
            let gate = Gate()
            try await withServer([
                .read, .send("HTTP/1.1 200 OK\r\n" + start), .wait(until: gate), .send("two"), .close,
            ]) { server in
                let response = try await transport.start(.get, server.url())
                var chunks = response.body.makeAsyncIterator()
                #expect(try await chunks.next() == Data("one".utf8))
                gate.open()
                #expect(try await response.body.collect(upTo: limit) == Data("two".utf8))
            }
        }
    }

    // MARK: Timeouts

    @Test(arguments: ContractTransport.all, [NetworkError.Code.idleTimeout, .totalTimeout])
    func `a timeout ends a silent body after the bytes that arrived`(
        transport: ContractTransport, code: NetworkError.Code
    ) async throws {
        try await withServer([.read, Self.head(9, "abc"), .stall]) { server in
            let response = try await transport.start(.get, server.url()) {
                // The head and the first bytes must be there in time.
                if code == .idleTimeout {
                    $0.idleTimeout = .seconds(3 * pauseFactor)
                } else {
                    $0.totalTimeout = .seconds(4 * pauseFactor)
                }
            }
            var chunks = response.body.makeAsyncIterator()
            #expect(try await chunks.next() == Data("abc".utf8))
            await expectFailure(code) { try await chunks.next() }
            #expect(try await chunks.next() == nil)
            try await server.wait { $0.connectionsEndedByPeer == 1 }
        }
    }

    @Test(arguments: ContractTransport.all, ["identity", "gzip"])
    func `the total timeout counts until the last byte is read`(transport: ContractTransport, encoding: String)
        async throws
    {
        let plain = PatternBytes.make(count: 100_000)
        let body = encoding == "gzip" ? Gzip.stored(plain) : plain
        // On a busy machine, two seconds may pass before the heads are there.
        let (timeout, pause) = (2 * pauseFactor, 2500 * pauseFactor)
        try await withServer(.response(fields: [("Content-Encoding", encoding)], body: body)) { server in
            func start() async throws -> TransportResponse.Body {
                try await transport.start(.get, server.url()) { $0.totalTimeout = .seconds(timeout) }.body
            }
            let (unread, uncollected, read) = (try await start(), try await start(), try await start())
            var (chunks, whole) = (read.makeAsyncIterator(), Data())
            while whole.count < plain.count, let chunk = try await chunks.next() { whole += chunk }
            #expect(whole == plain)
            // The whole body has arrived, and the readers pause for longer than the timeout.
            _ = try await transport.send(to: Self.silent(milliseconds: pause))
            var late = unread.makeAsyncIterator()
            await expectFailure(.totalTimeout) { try await late.next() }
            #expect(try await late.next() == nil)
            await expectFailure(.totalTimeout) { try await uncollected.collect() }
            if encoding == "identity" { #expect(try await chunks.next() == nil, "its last byte was read in time") }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a slow reader is not idle`(transport: ContractTransport) async throws {
        // More than fits into the reader's buffer and the sockets' buffers.
        let size = 32 << 20
        // Before and after the reader's pause, the server may stall for less than the timeout.
        let (timeout, pause, limit) = (3 * pauseFactor, 4500 * pauseFactor, Duration.seconds(30 * patienceFactor))
        try await withServer(.response(body: Data(count: size))) { server in
            let response = try await transport.start(.get, server.url()) {
                ($0.idleTimeout, $0.totalTimeout) = (.seconds(timeout), limit)
            }
            var chunks = response.body.makeAsyncIterator()
            var total = try #require(try await chunks.next()).count
            // The reader pauses for longer than the timeout.
            _ = try await transport.send(to: Self.silent(milliseconds: pause)) { $0.totalTimeout = limit }
            while let chunk = try await chunks.next() { total += chunk.count }
            #expect(total == size)
        }
    }
}
