import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

@Suite(.patience(minutes: 1))
struct BadInputContract {
    @Test(
        arguments: ContractTransport.all,
        [
            "", "/test", "127.0.0.1:3000", "ftp://127.0.0.1/", "file:///etc/passwd", "http://", "http:///x",
            "http://u:p@w@127.0.0.1/", "http://127.0.0.1:99999/", "http://127.0.0.1/%zz", "http://127.0.0.1/a\r\nb",
            "http://127.0.0.1/\u{0}", "http://-bücher.example/", "http://127.1/", "http://a b/", "http://h\\x/",
        ]
    )
    func `a bad URL is refused`(transport: ContractTransport, url: String) async {
        await expectFailure(.invalidURL) { try await transport.transport.send(RequestData(path: url), as: .data).body }
        let outcome = await withCheckedContinuation { continuation in
            transport.transport.dispatch(
                request: RequestData(path: url),
                onSuccess: { _ in continuation.resume(returning: nil as (any Error)?) },
                onError: { continuation.resume(returning: $0) }
            )
        }
        #expect((outcome as? NetworkError)?.code == .invalidURL)
    }

    @Test(
        arguments: ContractTransport.all,
        [
            ["a b": "v"], ["": "v"], ["X-A": "a\r\nInjected: 1"], ["X-A\r\nInjected": "1"], ["X-A": "\u{0}"],
            ["X": "1", "x": "2"],
        ]
    )
    func `a bad header is refused`(transport: ContractTransport, headers: [String: String]) async throws {
        let server = try ScriptedServer(.ok())
        defer { server.stop() }
        await expectFailure(.invalidHeaderField) {
            try await transport.transport.send(RequestData(path: server.url(), headerFields: headers), as: .data).body
        }
        #expect(server.connectionCount == 0)
    }

    /// Regression: libcurl sends the first one alone, and URLSession one field with both values.
    @Test(arguments: ContractTransport.all, ["a.test", "b.test"])
    func `two Host fields are refused`(transport: ContractTransport, second: String) async throws {
        let server = try ScriptedServer(.ok())
        defer { server.stop() }
        let error = await expectFailure(.invalidHeaderField) {
            try await transport.send(.get, server.url(), fields: [("Host", "a.test"), ("host", second)])
        }
        #expect(error?.message.contains("Host") == true)
        #expect(server.connectionCount == 0)
    }

    @Test(
        arguments: ContractTransport.all,
        [
            Duration.zero, .seconds(-1), .milliseconds(-1), .seconds(366 * 86_400), .seconds(Int64.max),
            .seconds(Int64.min),
        ]
    )
    func `an absurd timeout is refused`(transport: ContractTransport, timeout: Duration) async throws {
        let server = try ScriptedServer(.ok())
        defer { server.stop() }
        await expectFailure(.invalidOption) {
            try await transport.send(.get, server.url()) { $0.connectTimeout = timeout }
        }
        await expectFailure(.invalidOption) {
            try await transport.send(.get, server.url()) { $0.idleTimeout = timeout }
        }
        await expectFailure(.invalidOption) {
            try await transport.send(.get, server.url()) { $0.totalTimeout = timeout }
        }
        #expect(server.connectionCount == 0)
    }

    @Test(arguments: ContractTransport.all)
    func `a negative limit is refused`(transport: ContractTransport) async throws {
        await expectFailure(.invalidOption) {
            try await transport.send(.get, "http://127.0.0.1:1/") { $0.maximumBodyBytes = -1 }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `an unencodable parameter is refused`(transport: ContractTransport) async {
        for params in [["a": AnyKeyPath.self], ["a": Double.nan], ["a": ["b": Data()]]] as [[String: Any?]] {
            for method in [HTTPRequest.Method.get, .post] {
                await expectFailure(.invalidParameters) {
                    try await transport.transport.send(
                        RequestData(path: "http://127.0.0.1:1/", method: method, parameters: params), as: .data
                    ).body
                }
            }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `a request that no transport carries is unsupported`(transport: ContractTransport) async throws {
        let url = "http://127.0.0.1:1/"
        await expectFailure(.unsupported) { try await transport.send(.connect, url) }
        await expectFailure(.unsupported) { try await transport.send(.trace, url) }
        await expectFailure(.unsupported) { try await transport.send(.head, url, body: Data("x".utf8)) }
        let fields = (0..<5).map { ("X-\($0)", String(repeating: "v", count: 60_000)) }
        await expectFailure(.invalidHeaderField) { try await transport.send(.get, url, fields: fields) }
    }
}
