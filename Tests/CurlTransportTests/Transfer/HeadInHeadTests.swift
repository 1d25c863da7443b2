import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

/// A field whose name looks like a status line does not begin another head.
@Suite("Fields named HTTP", .patience(minutes: 1))
struct HeadInHeadTests {
    private func send(_ response: String) async throws -> (response: TransportResponse, text: String) {
        let server = try ScriptedServer(.raw(response))
        defer { server.stop() }
        var request = TransportRequest(url: try RequestURL(server.url()))
        request.options.totalTimeout = .seconds(30)
        let response = try await CurlNetworkDispatcher().send(request)
        return (response, String(decoding: try await response.body.collect(), as: UTF8.self))
    }

    @Test func `a second head leaves the status alone`() async throws {
        let (response, text) = try await send(
            "HTTP/1.1 500 No\r\nX-A: 1\r\nHTTP/1.1 200 OK: x\r\nX-B: 2\r\nContent-Length: 2\r\n\r\nno")
        #expect(response.status.code == 500 && text == "no")
        #expect(response.head.headerFields.map(\.name.rawName).contains("X-A"))
    }

    @Test func `lengths before it count too`() async throws {
        let error = await #expect(throws: NetworkError.self) {
            _ = try await send(
                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nHTTP/1.1 200 OK: x\r\nContent-Length: 2\r\n\r\nhi")
        }
        #expect(error?.code == .invalidResponse)
    }

    @Test func `lines are counted on`() async throws {
        let lines = String(repeating: "HTTP/1.1 200 OK: x\r\n", count: ResponseState.maximumHeaderLines + 1)
        let error = await #expect(throws: NetworkError.self) {
            _ = try await send("HTTP/1.1 200 OK\r\n\(lines)Content-Length: 0\r\n\r\n")
        }
        #expect(error?.code == .responseHeadTooLarge)
    }

    @Test
    func `a head in the trailers of an empty body is a trailer`() async throws {
        let (response, text) = try await send(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nHTTP/1.1 500 No: x\r\n\r\n")
        #expect(response.status.code == 200 && text == "")
    }

    /// Interim responses, rounds of authentication, and repeats begin heads of their own.
    @Test func `a head begins where one may`() {
        let start = MonotonicTime(nanoseconds: 1)
        func receive(_ lines: [String], by state: inout ResponseState) {
            for line in lines { _ = state.receive(headerLine: Array((line + "\r\n").utf8), at: start) }
        }
        func status(_ state: ResponseState) -> String {
            String(decoding: state.head.bytes.dropFirst(9).prefix(3), as: UTF8.self)
        }
        var state = ResponseState(now: start)
        state.goesOut(at: start)
        receive(["HTTP/1.1 103 Early", "HTTP/1.1 200 OK: field", "", "HTTP/1.1 401 No", ""], by: &state)
        #expect(status(state) == "401")
        receive(["HTTP/1.1 200 OK", ""], by: &state)
        #expect(status(state) == "401")
        state.goesOut(at: start)
        receive(["HTTP/1.1 200 OK", ""], by: &state)
        #expect(status(state) == "200" && state.head.hasFinalHead)
    }
}
