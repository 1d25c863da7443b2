import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

@Suite(.patience(minutes: 1))
struct ResponseHeadContract {
    private func answer(_ transport: ContractTransport, to text: String) async throws -> ContractTransport.Answer {
        try await answer(transport, to: Data(text.utf8))
    }

    private func answer(_ transport: ContractTransport, to bytes: Data) async throws -> ContractTransport.Answer {
        let server = try ScriptedServer(.raw(bytes))
        defer { server.stop() }
        return try await transport.send(.get, server.url())
    }

    @Test(arguments: ContractTransport.all)
    func `Set-Cookie fields are apart`(transport: ContractTransport) async throws {
        let cookies = ["a=1; Path=/; Expires=Wed, 21 Oct 2065 07:28:00 GMT", "b=2; HttpOnly"]
        let lines = cookies.map { "Set-Cookie: \($0)\r\n" }.joined()
        let answer = try await answer(transport, to: "HTTP/1.1 200 OK\r\n\(lines)Content-Length: 0\r\n\r\n")
        #expect(answer.values(of: "set-cookie") == cookies)
    }

    @Test(arguments: ContractTransport.all)
    func `repeated fields keep their values in order`(transport: ContractTransport) async throws {
        let text = "HTTP/1.1 200 OK\r\nVary: a\r\nContent-Length: 0\r\nVary: b, c\r\nVary: d\r\n\r\n"
        let answer = try await answer(transport, to: text)
        #expect(answer.values(of: "Vary").joined(separator: ", ") == "a, b, c, d")
    }

    @Test(arguments: ContractTransport.all)
    func `repeated fields of other case keep their values`(transport: ContractTransport) async throws {
        try await transport.run(.repeatedFieldsOfOtherCase) {
            let text = "HTTP/1.1 200 OK\r\nVary: a\r\nContent-Length: 0\r\nvary: b\r\nVARY: c\r\n\r\n"
            let answer = try await answer(transport, to: text)
            #expect(answer.values(of: "Vary").joined(separator: ", ") == "a, b, c")
        }
    }

    @Test(arguments: ContractTransport.all)
    func `fields keep their order and case`(transport: ContractTransport) async throws {
        try await transport.run(.fieldOrder) {
            let text = "HTTP/1.1 200 OK\r\nX-b: 1\r\nx-A: 2\r\nX-B: 3\r\nContent-Length: 0\r\n\r\n"
            let fields = try await answer(transport, to: text).head.headerFields
            #expect(fields.map(\.name.rawName) == ["X-b", "x-A", "X-B", "Content-Length"])
            #expect(fields.map(\.value) == ["1", "2", "3", "0"])
        }
    }

    @Test(arguments: ContractTransport.all)
    func `empty and padded values are trimmed`(transport: ContractTransport) async throws {
        let text = "HTTP/1.1 200 OK\r\nX-Empty: \r\nX-Pad:  \t v \t\r\nX-Colon: a:b\r\nContent-Length: 0\r\n\r\n"
        let answer = try await answer(transport, to: text)
        #expect(answer.values(of: "X-Empty") == [""])
        #expect(answer.values(of: "X-Pad") == ["v"])
        #expect(answer.values(of: "X-Colon") == ["a:b"])
    }

    @Test(arguments: ContractTransport.all)
    func `a UTF-8 value is text`(transport: ContractTransport) async throws {
        let answer = try await answer(transport, to: "HTTP/1.1 200 OK\r\nX-Name: né日\r\nContent-Length: 0\r\n\r\n")
        #expect(answer.values(of: "X-Name") == ["né日"])
    }

    @Test(arguments: ContractTransport.all)
    func `a Latin-1 value is text`(transport: ContractTransport) async throws {
        try await transport.run(.headOfOddBytes) {
            var bytes = Data("HTTP/1.1 200 OK\r\nX-Name: n".utf8)
            bytes.append(0xE9)
            bytes += Data("\r\nContent-Length: 2\r\n\r\nok".utf8)
            let answer = try await answer(transport, to: bytes)
            #expect(answer.values(of: "X-Name") == ["né"])
            #expect(answer.text == "ok")
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a field without space after the colon is read`(transport: ContractTransport) async throws {
        try await transport.run(.headWithoutSpaces) {
            let answer = try await answer(transport, to: "HTTP/1.1 200 OK\r\nX-A:b\r\nContent-Length:2\r\n\r\nok")
            #expect(answer.values(of: "X-A") == ["b"])
            #expect(answer.text == "ok")
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a status line without reason is read`(transport: ContractTransport) async throws {
        #expect(try await answer(transport, to: "HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nok").text == "ok")
        try await transport.run(.headWithoutReason) {
            let answer = try await answer(transport, to: "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok")
            #expect(answer.text == "ok")
        }
    }

    @Test(arguments: ContractTransport.all)
    func `bare line feeds are read`(transport: ContractTransport) async throws {
        try await transport.run(.headWithBareLineFeeds) {
            let answer = try await answer(transport, to: "HTTP/1.1 200 OK\nX-A: b\nContent-Length: 2\n\nok")
            #expect(answer.values(of: "X-A") == ["b"])
            #expect(answer.text == "ok")
        }
    }

    @Test(arguments: ContractTransport.all)
    func `HTTP/1.0 is read`(transport: ContractTransport) async throws {
        #expect(try await answer(transport, to: "HTTP/1.0 200 OK\r\nX-A: b\r\n\r\nold").text == "old")
    }

    @Test(
        arguments: ContractTransport.all,
        [
            "HTTP/1.1 100 Continue\r\n\r\n",
            "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n",
        ]
    )
    func `interim responses are left out`(transport: ContractTransport, interim: String) async throws {
        let answer = try await answer(transport, to: interim + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        #expect(answer.status == 200)
        #expect(answer.text == "ok")
        #expect(answer.values(of: "Link").isEmpty)
    }

    @Test(arguments: ContractTransport.all)
    func `many fields are read`(transport: ContractTransport) async throws {
        let lines = (0..<500).map { "X-\($0): \($0)\r\n" }.joined()
        let answer = try await answer(transport, to: "HTTP/1.1 200 OK\r\n\(lines)Content-Length: 0\r\n\r\n")
        for number in [0, 250, 499] { #expect(answer.values(of: "X-\(number)") == ["\(number)"]) }
    }

    @Test(arguments: ContractTransport.all)
    func `trailers are not part of the body`(transport: ContractTransport) async throws {
        try await transport.run(.trailers) {
            let text =
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n2\r\nok\r\n0\r\nX-T: 1\r\n\r\n"
            let answer = try await answer(transport, to: text)
            #expect(answer.text == "ok")
        }
    }
}
