import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

private struct User: Codable, Equatable, Sendable { let id: Int }

@Suite(.patience(minutes: 1))
struct ResponseValidationTests {
    private func head(_ status: Int, _ type: String? = nil, length: String? = nil) -> HTTPResponse {
        var head = HTTPResponse(status: .init(code: status))
        head.headerFields[.contentType] = type
        head.headerFields[.contentLength] = length
        return head
    }

    @Test(arguments: [(199, false), (200, true), (299, true), (300, false), (404, false)])
    func `the successful rule takes 2xx`(status: Int, isTaken: Bool) throws {
        if isTaken {
            try ResponseValidation.successful.check(head(status))
        } else {
            expectFailure(.unacceptableStatus) { try ResponseValidation.successful.check(head(status)) }
        }
        try ResponseValidation.any.check(head(status))
    }

    /// A part would pass for the whole (RFC 9110 §15.3.7).
    @Test func `a part that was not asked for is no success`() async throws {
        let stub = StubTransport(always: .text("hello", status: 206, headerFields: [.contentRange: "bytes 0-4/10"]))
        let client = NetworkClient(transport: stub)
        let whole = try TransportRequest(to: "http://h/")
        for form in [0, 1] {
            let error = await expectFailure(.unacceptableStatus) {
                if form == 0 { _ = try await client.send(whole, as: .text) }
                if form == 1 { _ = try await client.send(whole, as: .lines) }
            }
            #expect(error?.message == "the server responded with 206, and the whole was expected")
            #expect(error?.response?.body == Data("hello".utf8))
        }
        var part = whole
        part.headerFields[.range] = "bytes=0-4"
        #expect(try await client.send(part, as: .text).body == "hello")
        #expect(try await client.with { $0.validation = .statuses(200...206) }.send(whole, as: .text).body == "hello")
        #expect(try await client.with { $0.validation = .any }.send(whole, as: .text).body == "hello")
        let resuming = client.with {
            $0.interceptors = [.adapting { $0.headerFields[.range] = "bytes=0-4" }]
        }
        #expect(try await resuming.send(whole, as: .text).body == "hello")
    }

    @Test(arguments: ["application/json; charset=utf-8", "application/json;charset=utf-8", " application/* ; q=1"])
    func `parameters of a pattern are ignored`(pattern: String) throws {
        try ResponseValidation.contentTypes(pattern).check(head(200, "application/json; charset=utf-8"))
        try ResponseValidation.contentTypes(pattern).check(head(200, "application/json"))
        expectFailure(.unacceptableContentType) {
            try ResponseValidation.contentTypes(pattern).check(head(200, "text/html; charset=utf-8"))
        }
    }

    @Test func `the rule for statuses takes the ranges and names them`() throws {
        let validation = ResponseValidation.statuses(200...299, 404...404)
        try validation.check(head(404))
        let error = expectFailure(.unacceptableStatus) { try validation.check(head(500)) }
        #expect(error?.message == "the server responded with 500, and 200 to 299 or 404 was expected")
    }

    @Test(arguments: [
        (Int.min...199, "\(Int.min) to 199"), (600...Int.max, "600 to \(Int.max)"), (Int.max...Int.max, "\(Int.max)"),
        (Int.min...Int.min, "\(Int.min)"), (599...600, "599 to 600"),
    ])
    func `any range can be named`(range: ClosedRange<Int>, name: String) {
        let error = expectFailure(.unacceptableStatus) { try ResponseValidation.statuses(range).check(head(200)) }
        #expect(error?.message == "the server responded with 200, and \(name) was expected")
    }

    @Test(
        arguments: [
            ("application/json", true), ("Application/JSON; charset=utf-8", true), ("application/problem+json", true),
            ("text/plain", true), ("text/html;a=\"x;y\"", true), ("application/xml", false), ("json", false),
            ("application/jsonx", false), ("", false), (nil, false),
        ] as [(String?, Bool)]
    )
    func `content types are matched by pattern`(type: String?, isTaken: Bool) throws {
        let validation = ResponseValidation.contentTypes("application/json", "text/*", "*/*+json")
        if isTaken {
            try validation.check(head(200, type))
        } else {
            expectFailure(.unacceptableContentType) { try validation.check(head(200, type)) }
        }
    }

    @Test func `responses without content have no type to refuse`() throws {
        let validation = ResponseValidation.contentTypes("application/json")
        for head in [head(204), head(205), head(304), head(200, length: "0")] { try validation.check(head) }
    }

    @Test func `rules are asked in their order`() async throws {
        let client = NetworkClient(transport: StubTransport(always: .text("sorry", status: 404)))
        let both = ResponseValidation.successful.and(.contentTypes("application/json"))
        let error = await expectFailure(.unacceptableStatus) {
            try await client.with { $0.validation = both }.send(RequestData(path: "http://127.0.0.1/"), as: .data)
        }
        #expect(error?.response?.body == Data("sorry".utf8))
        await expectFailure(.unacceptableContentType) {
            try await client.with { $0.validation = .contentTypes("application/json") }.send(
                RequestData(path: "http://127.0.0.1/"), as: .data)
        }
    }

    @Test func `a custom rule gets the response attached, and may throw anything`() async throws {
        struct Mine: Error {}
        let client = NetworkClient(transport: StubTransport(always: .text("x")))
        let request = RequestData(path: "http://127.0.0.1/")
        await #expect(throws: Mine.self) {
            try await client.with { $0.validation = .custom { _ in throw Mine() } }.send(request, as: .data)
        }
        let code = NetworkError.Code(rawValue: "mine")
        let error = await expectFailure(code) {
            try await client.with { $0.validation = .custom { _ in throw NetworkError(code, "no") } }.send(
                request, as: .text)
        }
        #expect(error?.response?.status == .ok)
        #expect(error?.exchange?.url == "http://127.0.0.1/")
    }

    @Test func `a streamed refusal has the start of the body`() async throws {
        let stub = StubTransport(always: .text(String(repeating: "x", count: 100_000), status: 500))
        let error = await expectFailure(.unacceptableStatus) {
            try await NetworkClient(transport: stub).send(RequestData(path: "http://127.0.0.1/"), as: .lines)
        }
        #expect(error?.response?.body.count == 65_536)
    }

    @Test func `other statuses are values where they are accepted`() async throws {
        let client = NetworkClient(transport: StubTransport(always: .text(#"{"id":1}"#, status: 404))).with {
            $0.validation = .any
        }
        let response = try await client.send(RequestData(path: "http://127.0.0.1/"), as: User.self)
        #expect(response.body == User(id: 1))
        #expect(response.status == .notFound)
    }
}
