import Foundation
import NetworkLayer
import NetworkTesting
import Synchronization
import TestSupport
import Testing

/// Streams of HTTP/2 on which both sides send at the same time.
@Suite(.enabled(if: Peers.http2 != nil, Peers.absence(of: Peers.http2Variable)), .patience(minutes: 1))
struct HTTP2DuplexTests {
    /// Each piece leaves at once, and each answer arrives at once: either one held back would be a deadlock.
    @Test(.curlSpeaksHTTP2, arguments: ["/echo", "/speak/20"])
    func `both sides speak in turns`(path: String) async throws {
        let client = try HTTP2Client(Peers.http2)
        let (chunks, producer) = AsyncStream<Data>.makeStream()
        let isEcho = path == "/echo"
        if isEcho { producer.yield(Data("A".utf8)) }
        let response = try await client.start(path, method: .post, body: .stream(chunks))
        var count = 0
        for try await chunk in response.body {
            #expect(chunk == Data("A".utf8))
            count += 1
            if isEcho, count == 20 { producer.finish() } else { producer.yield(chunk) }
        }
        #expect(count == 20)
        #expect(response.metrics.httpVersion == "2")
    }

    /// The stream ends with its response, and the connection carries the next request. The producer waits, or the
    /// server's window does not take its bytes.
    @Test(.curlSpeaksHTTP2, arguments: ["reset", "length", "413"], [10, 4 << 20])
    func `an early end of the response ends the stream and its producer`(end: String, size: Int) async throws {
        let client = try HTTP2Client(Peers.http2)
        let ended = Gate()
        let chunks = AsyncStream<Data> { stream in
            stream.yield(Data(count: size))
            stream.onTermination = { _ in ended.open() }
        }
        let early = try await client.start("/early/\(end)", method: .post, body: .stream(chunks))
        #expect(try await early.body.collect() == Data("early".utf8))
        try await ended.wait()
        let next = try await client.send("/ok")
        #expect(next.metrics.localAddress == early.metrics.localAddress)
    }

    /// Over HTTP/1.1 and TLS, where the end shows only in what libcurl waits for.
    @Test(arguments: [10, 4 << 20])
    func `an early end over TLS ends the response and its producer`(size: Int) async throws {
        let client = try HTTP2Client(Peers.http2, version: .http1_1)
        let ended = Gate()
        let chunks = AsyncStream<Data> { stream in
            stream.yield(Data(count: size))
            stream.onTermination = { _ in ended.open() }
        }
        let early = try await client.start("/early/chunked", method: .post, body: .stream(chunks))
        #expect(try await early.body.collect() == Data("early".utf8))
        try await ended.wait()
        withExtendedLifetime(early) {}
    }

    /// libcurl leaves trailer fields out over HTTP/2.
    @Test func `a request with trailer fields goes over HTTP 1_1`() async throws {
        let client = try HTTP2Client(Peers.http2, version: .automatic)
        let body = TransportRequest.Body.bytes(Data("body".utf8)).followed { [.init("X-A")!: "1"] }
        let answer = try await client.send("/early/chunked", method: .post, body: body)
        #expect(answer.text == "early" && answer.metrics.httpVersion == "1.1")
    }

    @Test(.curlSpeaksHTTP2) func `interim responses are reported`() async throws {
        let client = try HTTP2Client(Peers.http2)
        let heads = Guarded<[String]>([])
        var request = TransportRequest(url: try RequestURL(client.base + "/hints"))
        request.options.trustPeers()
        (request.options.httpVersion, request.options.totalTimeout) = (.http2, .seconds(30 * patienceFactor))
        request.interimResponse = { head in
            heads.withLock { $0.append("\(head.status.code) \(head.headerFields.map(\.value))") }
        }
        let response = try await client.dispatcher.send(request)
        #expect(try await response.body.collect() == Data("ok".utf8))
        #expect(
            heads.withLock(\.self) == [#"103 ["</a>; rel=preload", "1"]"#, #"103 ["</b>; rel=preload"]"#])
    }
}
