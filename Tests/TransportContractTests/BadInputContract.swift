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
        await expectFailure(.invalidURL) {
            try await withCheckedThrowingContinuation { continuation in
                transport.transport.dispatch(
                    request: RequestData(path: url), onSuccess: { continuation.resume(returning: $0) },
                    onError: { continuation.resume(throwing: $0) })
            }
        }
    }

    @Test(
        arguments: ContractTransport.all,
        [
            [("a b", "v")], [("", "v")], [("X-A", "a\r\nInjected: 1")], [("X-A\r\nInjected", "1")], [("X-A", "\u{0}")],
            [("X", "1"), ("x", "2")],
        ] as [[(String, String)]]
    )
    func `a bad header is refused`(transport: ContractTransport, headers: [(String, String)]) async throws {
        try await withServer(.ok()) { server in
            let fields = Dictionary(uniqueKeysWithValues: headers)
            await expectFailure(.invalidHeaderField) {
                try await transport.transport.send(RequestData(path: server.url(), headerFields: fields), as: .data)
            }
            #expect(server.connectionCount == 0)
        }
    }

    /// Regression: libcurl sends the first one alone, and URLSession one field with both values.
    @Test(arguments: ContractTransport.all, ["a.test", "b.test"])
    func `two Host fields are refused`(transport: ContractTransport, second: String) async {
        let error = await expectFailure(.invalidHeaderField, in: .preparing) {
            try await transport.send(to: .ok(), fields: [("Host", "a.test"), ("host", second)])
        }
        #expect(error?.message.contains("Host") == true)
    }

    private static let absurd: [Duration] = [
        .zero, .seconds(-1), .milliseconds(-1), .seconds(366 * 86_400), .seconds(Int64.max), .seconds(Int64.min),
    ]

    @Test(
        arguments: ContractTransport.all,
        absurd.flatMap { time in
            [{ $0.connectTimeout = time }, { $0.idleTimeout = time }, { $0.totalTimeout = time }]
        } + [{ $0.maximumBodyBytes = -1 }] as [ContractCase.Change])
    func `an absurd timeout and a negative limit are refused`(
        transport: ContractTransport, change: @Sendable (inout TransportOptions) -> Void
    ) async throws {
        try await withServer(.ok()) { server in
            await expectFailure(.invalidOption) { try await transport.send(.get, server.url(), options: change) }
            #expect(server.connectionCount == 0)
        }
    }

    @Test(arguments: ContractTransport.all)
    func `an unencodable parameter is refused`(transport: ContractTransport) async {
        for params in [["a": AnyKeyPath.self], ["a": Double.nan], ["a": ["b": Data()]]] as [[String: Any?]] {
            for method in [HTTPRequest.Method.get, .post] {
                await expectFailure(.invalidParameters) {
                    try await transport.transport.send(
                        RequestData(path: "http://127.0.0.1:1/", method: method, parameters: params), as: .data)
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
