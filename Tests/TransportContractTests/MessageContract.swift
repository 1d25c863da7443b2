import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

/// Single exchanges: the head and the body of a request as the server sees them, and of a response as the caller does.
@Suite(.patience(minutes: 1))
struct MessageContract {
    // MARK: Methods

    private static let methods =
        ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"].map { name in
            ContractCase("\(name) is sent as it is", HTTPRequest.Method(name)!, "/a/b?c=d", to: .ok("answer")) {
                #expect($0.text == "answer")
                #expect($0.requests.map(\.requestLine) == [[name, "/a/b?c=d", "HTTP/1.1"]])
            }
        }
        // RFC 9110 §9.1: methods are case-sensitive. URLSession changes only the methods that it knows.
        + ["get", "Post", "delete", "pROPFIND"].map { name in
            ContractCase(
                "\(name) keeps its case", HTTPRequest.Method(name)!,
                exclusion: name == "pROPFIND" ? nil : .methodCase
            ) { #expect($0.request?.method == name) }
        }
        + ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"].flatMap { name in
            [nil, Data()].map { body in
                ContractCase(
                    "\(name) with \(body == nil ? "no" : "an empty") body says Content-Length: 0",
                    HTTPRequest.Method(name)!, body: body
                ) {
                    #expect($0.request?.values(of: "Content-Length") == ["0"])
                    #expect($0.request?.values(of: "Transfer-Encoding") == [])
                    #expect($0.request?.values(of: "Content-Type") == [])
                }
            }
        }
        + ["GET", "HEAD"].map { name in
            ContractCase("\(name) says nothing of a body", HTTPRequest.Method(name)!) {
                for name in ["Content-Length", "Transfer-Encoding", "Content-Type"] {
                    #expect($0.request?.values(of: name) == [], "\(name)")
                }
            }
        }
        + [HTTPRequest.Method.delete, .get].map { method in
            ContractCase(
                "a body of \(method.rawValue) is sent", method, body: Data("x".utf8),
                exclusion: method == .get ? .bodyOnGet : nil
            ) {
                #expect($0.request?.body == Data("x".utf8))
                #expect($0.request?.method == method.rawValue)
            }
        } + [
            ContractCase(
                "HTTP/1.0 is spoken on request", to: .raw("HTTP/1.0 200 OK\r\n\r\nold"), exclusion: .http1_0,
                options: { $0.httpVersion = .http1_0 }
            ) {
                #expect($0.text == "old")
                #expect($0.request?.requestLine.last == "HTTP/1.0")
            }
        ]

    @Test(arguments: ContractTransport.all, methods)
    func `a method is the caller's`(transport: ContractTransport, message: ContractCase) async throws {
        try await message.check(over: transport)
    }

    @Test(arguments: ContractTransport.all)
    func `a HEAD response has the fields and no body`(transport: ContractTransport) async throws {
        let url = try await Demo.url("/bytes/5")
        for _ in 0..<3 {
            let answer = try await transport.send(.head, url)
            #expect(answer.status == 200 && answer.body.isEmpty)
            #expect(answer.values(of: "Content-Length") == ["5"])
            #expect(try await transport.send(.get, url).body == PatternBytes.make(count: 5))
        }
    }

    // MARK: Fields of requests

    private static let long = String(repeating: "v", count: 60_000)

    private static let requestFields =
        [
            ContractCase("default fields are the library's and nothing else") {
                let all = try #require($0.request).fields.map { ($0.name.lowercased(), $0.value) }
                let fields = Dictionary(all) { "\($0), \($1)" }
                #expect(try #require(fields["host"]).hasPrefix("127.0.0.1:"))
                #expect(
                    fields.filter { !["host", "connection"].contains($0.key) } == [
                        "accept": "*/*", "user-agent": TransportRequest.userAgent, "accept-encoding": "gzip, deflate",
                    ]
                )
            },
            ContractCase(
                "a length of the caller is replaced", .post,
                fields: [("Content-Length", "99"), ("Transfer-Encoding", "chunked"), ("Content-Type", "text/x")],
                body: Data("abc".utf8)
            ) {
                #expect($0.request?.values(of: "Content-Length") == ["3"])
                #expect($0.request?.values(of: "Transfer-Encoding") == [])
                #expect($0.request?.values(of: "Content-Type") == ["text/x"])
                #expect($0.request?.body == Data("abc".utf8))
            },
            ContractCase("a value outside ASCII is sent as UTF-8", fields: [("X-Name", "é")]) {
                #expect($0.request?.values(of: "X-Name") == ["\u{C3}\u{A9}"])
            },
            ContractCase("an empty value is sent", fields: [("X-Empty", ""), ("X-Blank", " ")]) {
                #expect($0.request?.values(of: "X-Empty") == [""])
                #expect($0.request?.values(of: "X-Blank") == [""])
            },
            ContractCase("a long value is sent", fields: [("X-Long", long)]) {
                #expect($0.request?.values(of: "X-Long") == [long])
            },
            ContractCase("the case of a name is kept", fields: [("x-api-KEY", "1")], exclusion: .requestFieldCase) {
                #expect($0.request?.fields.contains { $0.name == "x-api-KEY" } == true)
            },
            ContractCase("repeated fields are sent, joined or not", fields: [("X-A", "1"), ("X-A", "2")]) {
                #expect($0.request?.values(of: "X-A").joined(separator: ", ") == "1, 2")
            },
            ContractCase(
                "repeated fields are sent apart", fields: [("X-A", "1"), ("X-A", "2")],
                exclusion: .repeatedRequestFields
            ) { #expect($0.request?.values(of: "X-A") == ["1", "2"]) },
        ]
        + [HTTPRequest.Method.post, .put].flatMap { method in
            [1, 100_000, 3_000_000].map { count in
                ContractCase(
                    "a body of \(count) bytes to \(method.rawValue) gets no Content-Type and no Expect", method,
                    body: PatternBytes.make(count: count)
                ) {
                    #expect($0.request?.values(of: "Content-Length") == ["\(count)"])
                    for name in ["Content-Type", "Expect", "Transfer-Encoding"] {
                        #expect($0.request?.values(of: name) == [], "\(name)")
                    }
                }
            }
        }

    @Test(arguments: ContractTransport.all, requestFields)
    func `fields of a request are sent`(transport: ContractTransport, message: ContractCase) async throws {
        try await message.check(over: transport)
    }

    @Test(arguments: ContractTransport.all)
    func `headers of the typed layer are sent`(transport: ContractTransport) async throws {
        try await withServer(.ok("{}")) { server in
            let headers = ["Authorization": "Bearer t", "Cookie": "a=1; b=2", "X-Api-Key": "k", "Accept": "text/plain"]
            _ = try await transport.transport.send(RequestData(path: server.url(), headerFields: headers), as: .data)
            let request = try #require(server.requests.first)
            for (name, value) in headers { #expect(request.values(of: name) == [value]) }
        }
    }

    // MARK: Heads of responses

    private static let ok = "HTTP/1.1 200 OK\r\n"
    private static let end = "Content-Length: 0\r\n\r\n"
    private static let cookies = ["a=1; Path=/; Expires=Wed, 21 Oct 2065 07:28:00 GMT", "b=2; HttpOnly"]

    private static let heads =
        [
            ContractCase(
                "Set-Cookie fields are apart", ok + cookies.map { "Set-Cookie: \($0)\r\n" }.joined() + end
            ) { #expect($0.values(of: "set-cookie") == cookies) },
            ContractCase(
                "repeated fields keep their values in order",
                ok + "Vary: a\r\nContent-Length: 0\r\nVary: b, c\r\nVary: d\r\n\r\n"
            ) { #expect($0.values(of: "Vary").joined(separator: ", ") == "a, b, c, d") },
            ContractCase(
                "repeated fields of other case keep their values",
                ok + "Vary: a\r\nContent-Length: 0\r\nvary: b\r\nVARY: c\r\n\r\n",
                exclusion: .repeatedFieldsOfOtherCase
            ) { #expect($0.values(of: "Vary").joined(separator: ", ") == "a, b, c") },
            ContractCase(
                "fields keep their order and case", ok + "X-b: 1\r\nx-A: 2\r\nX-B: 3\r\n" + end, exclusion: .fieldOrder
            ) {
                #expect($0.head.headerFields.map(\.name.rawName) == ["X-b", "x-A", "X-B", "Content-Length"])
                #expect($0.head.headerFields.map(\.value) == ["1", "2", "3", "0"])
            },
            ContractCase(
                "empty and padded values are trimmed",
                ok + "X-Empty: \r\nX-Pad:  \t v \t\r\nX-Colon: a:b\r\n" + end
            ) {
                #expect($0.values(of: "X-Empty") == [""])
                #expect($0.values(of: "X-Pad") == ["v"])
                #expect($0.values(of: "X-Colon") == ["a:b"])
            },
            ContractCase("a UTF-8 value is text", ok + "X-Name: né日\r\n" + end) {
                #expect($0.values(of: "X-Name") == ["né日"])
            },
            ContractCase(
                "a Latin-1 value is text",
                to: .raw(Data((ok + "X-Name: n").utf8) + [0xE9] + Data("\r\nContent-Length: 2\r\n\r\nok".utf8)),
                exclusion: .headOfOddBytes
            ) { #expect($0.values(of: "X-Name") == ["né"] && $0.text == "ok") },
            ContractCase(
                "a field without space after the colon is read", ok + "X-A:b\r\nContent-Length:2\r\n\r\nok",
                exclusion: .headWithoutSpaces
            ) { #expect($0.values(of: "X-A") == ["b"] && $0.text == "ok") },
            ContractCase(
                "bare line feeds are read", "HTTP/1.1 200 OK\nX-A: b\nContent-Length: 2\n\nok",
                exclusion: .headWithBareLineFeeds
            ) { #expect($0.values(of: "X-A") == ["b"] && $0.text == "ok") },
            ContractCase("an empty reason", "HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nok", .response(200, "ok")),
            ContractCase(
                "no reason", "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok", .response(200, "ok"),
                exclusion: .headWithoutReason),
            ContractCase("HTTP/1.0", "HTTP/1.0 200 OK\r\nX-A: b\r\n\r\nold", .response(200, "old")),
            ContractCase("many fields are read", ok + (0..<500).map { "X-\($0): \($0)\r\n" }.joined() + end) {
                for number in [0, 250, 499] { #expect($0.values(of: "X-\(number)") == ["\(number)"]) }
            },
            ContractCase(
                "trailers are not part of the body",
                ok + "Transfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n2\r\nok\r\n0\r\nX-T: 1\r\n\r\n",
                .response(200, "ok"), exclusion: .trailers),
        ]
        + [
            "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n",
        ].enumerated().map { number, interim in
            ContractCase("interim responses are left out, \(number)", interim + ok + "Content-Length: 2\r\n\r\nok") {
                #expect($0.status == 200 && $0.text == "ok" && $0.values(of: "Link").isEmpty)
            }
        }

    @Test(arguments: ContractTransport.all, heads)
    func `the head of a response is read`(transport: ContractTransport, message: ContractCase) async throws {
        try await message.check(over: transport)
    }
}

/// Checks responses that TCP cuts at any position.
@Suite(.patience(minutes: 1))
struct SplitContract {
    private static let text = Data(
        "HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nX-A: b\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n"
            .utf8
    )

    private func expectWhole(_ answer: ContractTransport.Answer, _ comment: Comment? = nil) {
        #expect(answer.status == 200, comment)
        #expect(answer.text == "abcd", comment)
        #expect(answer.values(of: "X-A") == ["b"], comment)
        #expect(answer.values(of: "A").isEmpty, comment)
    }

    @Test(arguments: ContractTransport.all)
    func `a response sent byte by byte is the same response`(transport: ContractTransport) async throws {
        let server = try ScriptedServer([.read, .sendSplit(Self.text, each: 1)])
        defer { server.stop() }
        expectWhole(try await transport.send(.get, server.url()))
    }

    @Test(arguments: ContractTransport.all)
    func `a response cut anywhere in two is the same response`(transport: ContractTransport) async throws {
        let scripts = (1..<Self.text.count).map { cut -> Script in
            [.read, .send(Self.text.prefix(cut)), .pause(.milliseconds(3)), .send(Self.text.dropFirst(cut)), .close]
        }
        let server = try ScriptedServer(scripts: scripts)
        defer { server.stop() }
        for cut in 1..<Self.text.count {
            expectWhole(try await transport.send(.get, server.url()), "cut at \(cut)")
        }
    }
}
