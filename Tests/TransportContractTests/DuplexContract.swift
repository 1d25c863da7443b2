import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

/// A request's body and its response that are under way together.
@Suite(.patience(minutes: 1))
struct DuplexContract {
    private static let head = Script.Step.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    /// A chunk of one byte, as both sides send it.
    private static let chunk = "1\r\nA\r\n"
    private static let (sendChunk, readChunk) = (Script.Step.send(chunk), Script.Step.readBody(chunk.utf8.count))

    private func post(
        _ transport: ContractTransport, to server: ScriptedServer, _ chunks: AsyncStream<Data>
    ) async throws -> TransportResponse {
        try await transport.transport.send(transport.request(.post, server.url(), body: .stream(chunks)))
    }

    /// Each chunk leaves at once, and each answer arrives at once: either one held back would be a deadlock.
    @Test(arguments: ContractTransport.all)
    func `each chunk is answered before the next one is sent`(transport: ContractTransport) async throws {
        let turns = 1_000
        let echoes = Array(repeating: [Self.readChunk, Self.sendChunk], count: turns).flatMap(\.self)
        try await transport.run(.streamedUpload) {
            try await withServer(Script([.readHead, Self.head] + echoes + [.readBody(5), .send("0\r\n\r\n")])) {
                server in
                let (chunks, producer) = AsyncStream<Data>.makeStream()
                producer.yield(Data("A".utf8))
                let response = try await post(transport, to: server, chunks)
                var count = 0
                for try await chunk in response.body {
                    #expect(chunk == Data("A".utf8))
                    count += 1
                    if count < turns { producer.yield(chunk) } else { producer.finish() }
                }
                #expect(count == turns)
            }
        }
    }

    /// Regression: the response ended when the request's body did, which waited for the end of the response.
    @Test(arguments: ContractTransport.all)
    func `the server speaks first and ends first`(transport: ContractTransport) async throws {
        let turns = Array(repeating: [Self.sendChunk, Self.readChunk], count: 100).flatMap(\.self)
        let (rest, isRead) = ("0\r\n\r\n", Gate())
        try await transport.run(.streamedUpload) {
            try await withServer(
                Script([.readHead, Self.head] + turns + [.send(rest), .readBody(5), .open(isRead)])
            ) { server in
                let (chunks, producer) = AsyncStream<Data>.makeStream()
                let response = try await post(transport, to: server, chunks)
                var count = 0
                for try await chunk in response.body {
                    count += 1
                    producer.yield(chunk)
                }
                #expect(count == 100)
                // What is left of the request's body is still sent.
                producer.finish()
                try await isRead.wait()
            }
        }
    }

    /// How a response ends for which the request's body is not waited.
    static let ends = [
        "Content-Length: 5\r\n\r\nearly", "Transfer-Encoding: chunked\r\n\r\n5\r\nearly\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n5\r\nearly\r\n0\r\nT: 1\r\n\r\n",
        "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n",
    ]

    /// The request's producer is cancelled within a second, and no other request goes over the connection.
    @Test(arguments: ContractTransport.all, ends.flatMap { [($0, true), ($0, false)] })
    func `an early end ends the response, and then the upload`(
        transport: ContractTransport, way: (end: String, isCollected: Bool)
    ) async throws {
        let (end, isCollected) = way
        var text = Data("HTTP/1.1 200 OK\r\n\(end)".utf8)
        if end.contains("gzip") {
            let packed = Gzip.stored(Data("early".utf8))
            text += Data("\(String(packed.count, radix: 16))\r\n".utf8) + packed + Data("\r\n0\r\n\r\n".utf8)
        }
        try await transport.run(.streamedUpload) {
            // The producer has begun once its first chunk is there; one that has not begun is not cancelled.
            try await withServer([.readHead, .readBody(10), .send(text), .stall], .ok("second")) { server in
                let ended = Gate()
                let (chunks, producer) = AsyncStream<Data>.makeStream()
                producer.onTermination = { _ in ended.open() }
                producer.yield(Data("begun".utf8))
                let response = try await post(transport, to: server, chunks)
                var body = Data()
                if isCollected {
                    body = try await response.body.collect()
                } else {
                    for try await chunk in response.body { body += chunk }
                }
                #expect(body == Data("early".utf8))
                #expect(response.body.trailers?.isEmpty == !end.contains("T: 1"))
                try await ended.wait()
                #expect(try await transport.send(.get, server.url()).text == "second")
                #expect(server.connectionCount == 2)
                withExtendedLifetime(response) {}
            }
        }
    }

    /// A response that is cut is no whole one, also where the connection ends in order.
    @Test(
        arguments: ContractTransport.all,
        ["Content-Length: 9", "Transfer-Encoding: chunked"].flatMap { [($0, true), ($0, false)] })
    func `a response that breaks off during the upload is an error`(
        transport: ContractTransport, way: (framing: String, isReset: Bool)
    ) async throws {
        let cut = Gate()
        try await transport.run(.streamedUpload) {
            try await withServer([
                .readHead, .send("HTTP/1.1 200 OK\r\n\(way.framing)\r\n\r\n5\r\nearl"), .open(cut),
                way.isReset ? .reset : .close,
            ]) { server in
                let (chunks, producer) = AsyncStream<Data>.makeStream()
                producer.yield(Data("begun".utf8))
                let response = try await post(transport, to: server, chunks)
                let body = Task { try await response.body.collect() }
                try await cut.wait()
                // Other exchanges, so that the transport has seen the end before the request's body ends.
                try await withServer(.ok()) { other in
                    for _ in 0..<20 { _ = try await transport.send(.get, other.url()) }
                }
                producer.finish()
                let error = await #expect(throws: NetworkError.self) { try await body.value }
                #expect([.truncatedBody, .connectionLost].contains(error?.code), "\(error as Any)")
            }
        }
    }

    /// More than is held of an unread body: the transfer pauses, and its end comes while it is paused.
    @Test(arguments: ContractTransport.all)
    func `a long response to a begun upload ends for a slow reader`(transport: ContractTransport) async throws {
        let size = 4 << 20
        let body = Data("\(String(size, radix: 16))\r\n".utf8) + Data(count: size) + Data("\r\n0\r\n\r\n".utf8)
        try await transport.run(.streamedUpload) {
            try await withServer([.readHead, Self.head, .send(body), .stall]) { server in
                let (chunks, producer) = AsyncStream<Data>.makeStream()
                producer.yield(Data("begun".utf8))
                let response = try await post(transport, to: server, chunks)
                var count = 0
                for try await chunk in response.body {
                    count += chunk.count
                    for _ in 0..<20 { await Task.yield() }
                }
                #expect(count == size)
                producer.finish()
            }
        }
    }
}
