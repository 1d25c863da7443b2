import Foundation
import JSONText
import NetworkLayer
import NetworkTesting
import Testing

@testable import netlayer

@Suite struct ReplayTests {
    private func answer(_ text: String) async -> String {
        let replay = Replay(transport: EchoingTransport(), output: .standardOutput, concurrency: 1)
        let line = LineSplitter.Line(number: 7, bytes: Array(text.utf8))
        let answer = await replay.outcome(of: line, holding: replay.bodies.share())
        return String(decoding: answer.json.line, as: UTF8.self)
    }

    @Test func `a response has the request's id`() async {
        #expect(
            await answer(#"{"id":"a","url":"http://h/p#f"}"#)
                == #"{"id":"a","status":404,"headers":[["Server","x"]],"bodyBase64":"aGk=","effectiveURL":"http://h/p","#
                + #""error":null,"metrics":{"totalMs":1.5,"httpVersion":"1.1"}}"#
        )
    }

    @Test func `a bad line is reported with its number`() async {
        let nothing = #""status":null,"headers":null,"bodyBase64":null,"effectiveURL":null"#
        #expect(
            await answer(#"{"id":5,"url":false}"#)
                == #"{"id":5,\#(nothing),"error":{"code":"invalidLine","message":"line 7: 'url' is a boolean, and a "#
                + #"string was expected"},"metrics":{}}"#
        )
        #expect(await answer("?").contains(#"{"code":"invalidLine","message":"line 7: not JSON: "#))
    }

    /// Regression: sessions were kept for the whole run, however long they were.
    @Test func `a line whose session is too long is refused`() async {
        func answer(_ count: Int) async -> String {
            await self.answer(#"{"id":5,"url":"http://h/","session":"\#(String(repeating: "s", count: count))"}"#)
        }
        let refused = #""error":{"code":"invalidLine","message":"line 7: 'session' has more than 1024 bytes"}"#
        #expect(await answer(1_025).contains(refused))
        #expect(await answer(1_024).contains(#""status":404"#))
        #expect(throws: LineProblem.self) { try SessionJars.check(.number(String(repeating: "1", count: 1_025))) }
    }

    /// Regression: HTTPFields traps beyond 65,534 fields.
    @Test func `a line of more header fields than a request can have is refused`() async {
        let pairs = Array(repeating: #"["a","b"]"#, count: 70_000).joined(separator: ",")
        let refused = #"{"code":"invalidHeaderField""#
        #expect(await answer(#"{"url":"http://h/","headers":[\#(pairs)]}"#).contains(refused))
        let proxy = #"{"url":"http://p/","headers":[\#(pairs)]}"#
        #expect(await answer(#"{"url":"http://h/","options":{"proxy":\#(proxy)}}"#).contains(refused))
    }

    @Test func `a refused request is reported with the library's code`() async {
        #expect(await answer(#"{"url":"ftp://h/"}"#).contains(#"{"code":"invalidURL","message":"line 7: the URL"#))
        #expect(
            await answer(#"{"url":"http://h/","headers":[["a","b\r\n"]]}"#).contains(#"{"code":"invalidHeaderField""#))
        #expect(await answer(#"{"url":"http://h/","method":"G T"}"#).contains(#"{"code":"invalidMethod""#))
    }

    @Test func `redirects and cookies are the session's`() async throws {
        let end = Script.head(200, fields: [("Content-Length", "0")])
        let fields = [("Location", "/end#f"), ("Set-Cookie", "sid=1; Path=/"), ("Content-Length", "0")]
        let server = try ScriptedServer(
            [.read, .send(Script.head(302, fields: fields)), .forEachRequest([.send(end)])], .ok())
        defer { server.stop() }
        let replay = Replay(transport: CurlNetworkDispatcher(), output: .standardOutput, concurrency: 1)
        func answer(_ path: String, _ session: String, _ options: String) async -> OutcomeLine {
            let text = #"{"url":"\#(server.url(path))","session":"\#(session)","options":\#(options)}"#
            let line = LineSplitter.Line(number: 1, bytes: Array(text.utf8))
            return await replay.outcome(of: line, holding: replay.bodies.share())
        }
        let first = await answer("/start", "a", #"{"cookies":"memory","followRedirects":true}"#)
        #expect(first.status == 200)
        #expect(first.effectiveURL == server.url("/end"))
        _ = await answer("/a", "a", #"{"cookies":"memory"}"#)
        _ = await answer("/b", "b", #"{"cookies":"memory"}"#)
        _ = await answer("/c", "a", "{}")
        #expect(server.requests.map(\.target) == ["/start", "/end", "/a", "/b", "/c"])
        #expect(server.requests.map { $0.values(of: "Cookie") } == [[], ["sid=1"], ["sid=1"], [], []])
    }

    @Test(arguments: [false, true])
    func `a redirect to another origin takes credentials along if it is trusted`(trusts: Bool) async throws {
        let target = try ScriptedServer(.ok())
        let fields = [("Location", target.url("/end")), ("Content-Length", "0")]
        let start = try ScriptedServer([.read, .send(Script.head(302, fields: fields)), .close])
        defer {
            target.stop()
            start.stop()
        }
        let replay = Replay(transport: CurlNetworkDispatcher(), output: .standardOutput, concurrency: 1)
        let text = #"""
            {"url":"\#(start.url("/"))","headers":[["Cookie","a=b"],["X-Plain","c"],["Host","own.test"]],
            "options":{"followRedirects":true,"trustRedirects":\#(trusts),"auth":{"scheme":"basic","user":"u","password":"p"}}}
            """#
        let line = LineSplitter.Line(number: 1, bytes: Array(text.utf8))
        let answer = await replay.outcome(of: line, holding: replay.bodies.share())
        #expect(answer.status == 200)
        let request = try #require(target.requests.first)
        #expect(request.values(of: "Authorization") == (trusts ? ["Basic dTpw"] : []))
        #expect(request.values(of: "Cookie") == (trusts ? ["a=b"] : []))
        #expect(request.values(of: "X-Plain") == ["c"])
        #expect(request.values(of: "Host") != ["own.test"], "it names the first server")
    }

    private struct EchoingTransport: HTTPTransport {
        var name: String { "test" }
        var capabilities: TransportCapabilities { .init(transport: name, basis: "test", supported: []) }

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            var metrics = TransportMetrics(total: .microseconds(1500))
            metrics.httpVersion = "1.1"
            return TransportResponse(
                head: HTTPResponse(status: .notFound, headerFields: [.server: "x"]),
                body: TransportResponse.Body(Data("hi".utf8)),
                metrics: metrics
            )
        }
    }
}
