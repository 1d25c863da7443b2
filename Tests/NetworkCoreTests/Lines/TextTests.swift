import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

private struct Row: Codable, Equatable, Sendable { let n: Int }

@Suite(.patience(minutes: 1))
struct TextTests {
    private let request = RequestData(path: "http://127.0.0.1/")

    private func client(_ body: [UInt8], type: String? = nil) -> NetworkClient {
        var fields = HTTPFields()
        fields[.contentType] = type
        return NetworkClient(transport: StubTransport(always: .bytes(Data(body), headerFields: fields)))
    }

    @Test(
        arguments: [
            (Array("grüße".utf8), nil, "grüße"), (Array("grüße".utf8), "text/plain; charset=\"UTF-8\"", "grüße"),
            ([0x67, 0xFC], "text/plain;charset=ISO-8859-1", "gü"), ([0x61], "text/plain; charset=us-ascii", "a"),
            ([0xEF, 0xBB, 0xBF, 0x61], nil, "a"), ([], nil, ""), ([0x80], "text/plain; charset=latin1", "\u{80}"),
        ] as [([UInt8], String?, String)]
    )
    func `the charset is that of the content type`(body: [UInt8], type: String?, text: String) async throws {
        #expect(try await client(body, type: type).send(request, as: .text).body == text)
    }

    @Test(
        arguments: [
            ([0x61, 0xFF], nil, "a\u{FFFD}"), ([0x61, 0xE4], "text/plain; charset=us-ascii", "a\u{FFFD}"),
            ([0xC3], "text/plain; charset=utf-8", "\u{FFFD}"),
        ] as [([UInt8], String?, String)]
    )
    func `other bytes are refused or replaced`(body: [UInt8], type: String?, text: String) async throws {
        let client = client(body, type: type)
        let error = await expectFailure(.undecodableText) { try await client.send(request, as: .text) }
        #expect(error?.response?.body == Data(body))
        #expect(try await client.send(request, as: .text(invalid: .replaced)).body == text)
        await expectFailure(.undecodableText) {
            for try await _ in try await client.send(request, as: .lines).body {}
        }
    }

    @Test func `an unknown charset is an error`() async throws {
        let client = client([0x61], type: "text/plain; charset=\"utf-16\\\"x\"")
        let error = await expectFailure(.undecodableText) { try await client.send(request, as: .text) }
        #expect(error?.message.contains("'utf-16\\\"x' is not supported") == true, "\(String(describing: error))")
        await expectFailure(.undecodableText) { try await client.send(request, as: .lines) }
    }

    @Test func `lines are those of the body`() async throws {
        var lines: [String] = []
        for try await line in try await client(Array("\u{FEFF}a\r\nb\n\n\u{FEFF}c\rd".utf8)).send(request, as: .lines)
            .body
        {
            lines.append(line)
        }
        #expect(lines == ["a", "b", "", "\u{FEFF}c", "d"])
    }

    @Test func `a line beyond the limit is an error after the others`() async throws {
        var lines = try await client(Array("ab\nabc\n".utf8)).send(request, as: .lines(maximumLineBytes: 2)).body
            .makeAsyncIterator()
        #expect(try await lines.next() == "ab")
        let error = await expectFailure(.lineTooLong) { try await lines.next() }
        #expect(error?.message == "line 2 of the body is longer than the limit of 2 bytes")
        #expect(try await lines.next() == nil)
    }

    @Test func `JSON lines are values, and blank lines are skipped`() async throws {
        var rows: [Row] = []
        let body = "{\"n\":1}\r\n\n \t\n{\"n\":\r2}\n{\"n\":3}"
        for try await row in try await client(Array(body.utf8)).send(request, as: .jsonLines(of: Row.self)).body {
            rows.append(row)
        }
        #expect(rows == [1, 2, 3].map { Row(n: $0) })
    }

    @Test func `a JSON line that does not fit is named, and the rest go on`() async throws {
        let body = "{\"n\":1}\n\n{\"n\":\"secret\"}\n{\"n\":3}\n"
        var rows = try await client(Array(body.utf8)).send(request, as: .jsonLines(of: Row.self)).body
            .makeAsyncIterator()
        #expect(try await rows.next() == Row(n: 1))
        let error = await expectFailure(.decodingFailed) { try await rows.next() }
        #expect(error?.message.hasPrefix("line 3 is not a") == true, "\(String(describing: error))")
        #expect(error?.decoding?.codingPath == "n")
        #expect(error?.description.contains("secret") == false)
        #expect(try await rows.next() == Row(n: 3))
        #expect(try await rows.next() == nil)
    }
}
