import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

/// Checks that the URL of a response or an error is the one that the request went to.
@Suite(.patience(minutes: 1))
struct ResponseURLTests {
    private let toMirror = RequestAdapter { request in
        request.url = try RequestURL("http://mirror.example" + request.url.path)
    }

    private func client(
        _ stub: StubTransport, call: [any Interceptor] = [], exchange: [any Interceptor] = []
    ) -> NetworkClient {
        var client = NetworkClient(transport: stub)
        client.interceptors = call
        client.exchangeInterceptors = exchange
        return client
    }

    @Test(arguments: [true, false], [true, false])
    func `the interceptor's URL is the response's`(isOfTheCall: Bool, isRedirected: Bool) async throws {
        let stub = StubTransport()
        if isRedirected { stub.when(.path("/a"), .status(302, headerFields: [.location: "/b"])) }
        stub.always(.any, .text("x"))
        let client = client(stub, call: isOfTheCall ? [toMirror] : [], exchange: isOfTheCall ? [] : [toMirror])
        let path = isRedirected ? "/b" : "/a"
        let response = try await client.send(RequestData(path: "http://h/a"), as: .text)
        #expect(response.url == stub.sent.last?.url)
        #expect(response.url?.absoluteString == "http://mirror.example" + path)
    }

    /// Regression: a redirect was from the URL before the exchange interceptors.
    @Test func `a redirect is from the URL that responded`() async throws {
        let stub = StubTransport()
        stub.when(.path("/a"), .status(302, headerFields: [.location: "/b"]))
        stub.when(.path("/b"), .text("there"))
        let response = try await client(stub, exchange: [toMirror]).send(RequestData(path: "http://h/a"), as: .text)
        #expect(response.redirects.map(\.from.absoluteString) == ["http://mirror.example/a"])
    }

    @Test(arguments: [true, false]) func `the interceptor's URL is the error's`(isOfTheCall: Bool) async throws {
        let stub = StubTransport(always: .text("not here", status: 404))
        let client = client(stub, call: isOfTheCall ? [toMirror] : [], exchange: isOfTheCall ? [] : [toMirror])
        let request = RequestData(path: "http://h/a")
        for error in [
            await expectFailure(.unacceptableStatus, from: { try await client.send(request, as: .text) }),
            await expectFailure(.unacceptableStatus, from: { try await client.send(request, as: .lines) }),
        ] {
            #expect(error?.exchange?.url == "http://mirror.example/a")
        }
    }

    /// The final attempt had no redirect.
    @Test func `the attempt that counts is the response's`() async throws {
        let stub = StubTransport()
        stub.when(.path("/a"), .status(302, headerFields: [.location: "/b"]), .text("direct"))
        stub.when(.path("/b"), .status(503))
        let time = TimeSource(now: { Date() }, sleep: { _ in }, random: { 0 })
        let client = client(stub, call: [.retry(RetryInterceptor.Policy(), time: time)])
        let response = try await client.send(RequestData(path: "http://h/a"), as: .text)
        #expect(response.url?.absoluteString == "http://h/a")
        #expect(response.redirects.isEmpty)
    }

    /// No request was sent, so only the call's own URL is available.
    @Test func `a response of no transport has the request's URL`() async throws {
        struct Shelf: Interceptor {
            func intercept(_ request: TransportRequest, in call: Call, next: Next) async throws -> TransportResponse {
                TransportResponse(head: HTTPResponse(status: .ok), body: TransportResponse.Body(Data("x".utf8)))
            }
        }
        let stub = StubTransport()
        let response = try await client(stub, call: [Shelf()]).send(RequestData(path: "http://h/a"), as: .text)
        #expect(response.url?.absoluteString == "http://h/a")
        #expect(stub.sent.isEmpty)
    }
}
