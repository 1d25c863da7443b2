import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

private struct OwnError: Error, Equatable {}

// The forms of the documentation.

extension ResponseForm<[[String]]> {
    fileprivate static var csv: Self {
        ResponseForm<String>.text.map { text in
            text.split(separator: "\n").map { $0.split(separator: ",").map(String.init) }
        }
    }
}

extension ResponseForm<Int> {
    /// The number of bytes of the body, none of which is kept.
    fileprivate static var size: Self {
        ResponseForm(headerFields: [.acceptEncoding: "identity"]) { response in
            try await response.body.reduce(0) { $0 + $1.count }
        }
    }
}

/// Forms that are made outside the library, with its public names alone.
@Suite(.patience(minutes: 1))
struct ResponseFormTests {
    private let request = RequestData(path: "http://h/")

    private func client(_ response: StubResponse) -> NetworkClient {
        NetworkClient(transport: StubTransport(always: response))
    }

    @Test func `a form is made of another one`() async throws {
        let response = try await client(.text("1,Ada\n2,Joe\n")).send(request, as: .csv)
        #expect(response.body == [["1", "Ada"], ["2", "Joe"]])
        #expect(response.status == .ok && response.url?.absoluteString == "http://h/")
    }

    @Test func `a form is made of the response as it arrives`() async throws {
        let stub = StubTransport(always: .bytes(Data(count: 300_000)))
        #expect(try await NetworkClient(transport: stub).send(request, as: .size).body == 300_000)
        #expect(stub.sent.first?.headerFields[.acceptEncoding] == "identity")
        let own = RequestData(path: "http://h/", headerFields: ["Accept-Encoding": "gzip"])
        _ = try await NetworkClient(transport: stub).send(own, as: .size)
        #expect(stub.sent.last?.headerFields[.acceptEncoding] == "gzip", "the request's own field comes first")
    }

    @Test func `a form reads the head`() async throws {
        let form = ResponseForm { response in "\(response.status.code) \(response.headerFields[.server] ?? "")" }
        let answer = StubResponse.text("x", headerFields: [.server: "own"])
        #expect(try await client(answer).send(request, as: form).body == "200 own")
    }

    @Test func `a form may hand on the body`() async throws {
        let form = ResponseForm { response in response.body }
        let response = try await client(.text("abc")).send(request, as: form)
        #expect(try await response.body.collect() == Data("abc".utf8))
    }

    @Test func `a form gets what the validation accepts`() async throws {
        let error = await expectFailure(.unacceptableStatus) {
            try await client(.text("no", status: 404)).send(request, as: .size)
        }
        #expect(error?.response?.body == Data("no".utf8))
        let any = client(.text("no", status: 404)).with { $0.validation = .any }
        #expect(try await any.send(request, as: .size).body == 2)
        let status = ResponseForm.stream.map { try await $0.collect().count }
        #expect(try await client(.text("no", status: 404)).send(request, as: status).body == 2)
    }

    @Test func `an own error of a form reaches the caller, and the library's says where`() async throws {
        let own = ResponseForm.data.map { _ -> Int in throw OwnError() }
        await #expect(throws: OwnError()) { try await client(.text("x")).send(request, as: own) }
        let invalid = ResponseForm { _ -> Int in throw NetworkError(.invalidResponse, "no", phase: .decoding) }
        let error = await expectFailure(.invalidResponse) { try await client(.text("x")).send(request, as: invalid) }
        #expect(error?.exchange?.url == "http://h/" && error?.exchange?.transport == "stub")
    }

    @Test func `a value that comes too late is a timeout`() async throws {
        let client = client(.text("x")).with { $0.options.totalTimeout = .milliseconds(1) }
        let slow = ResponseForm.data.map { data in
            let end = ContinuousClock.now + .milliseconds(5)
            while ContinuousClock.now < end { await Task.yield() }
            return data
        }
        await expectFailure(.totalTimeout) { try await client.send(request, as: slow) }
    }
}
