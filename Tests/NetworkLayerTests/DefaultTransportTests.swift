import Dispatch
import Foundation
import NetworkTesting
import TestSupport
import Testing

@testable import NetworkLayer

private struct Row: Codable, Equatable {
    let dataField1: String
    let dataField2: String
}

private struct GetRows: RequestType {
    typealias ResponseType = [Row]
    let data: RequestData
}

@Suite(.patience(minutes: 1))
struct DefaultTransportTests {
    private let wrong = DefaultTransport(environment: ["NETWORK_TRANSPORT": "CURL"])
    private let request = GetRows(data: RequestData(path: "http://127.0.0.1:1/"))

    private func expectConfigurationError(_ error: (any Error)?, sourceLocation: SourceLocation = #_sourceLocation) {
        let error = error as? NetworkError
        #expect(error?.code == .invalidConfiguration, sourceLocation: sourceLocation)
        for part in ["NETWORK_TRANSPORT", "'CURL'", "'curl'", "'urlsession'"] {
            #expect(error?.description.contains(part) == true, sourceLocation: sourceLocation)
        }
    }

    @Test func `an unset variable selects the standard`() throws {
        for environment in [[:], ["OTHER": "urlsession"]] {
            #expect(try DefaultTransport(environment: environment).selected.name == "curl")
        }
    }

    @Test(arguments: ["", " ", "CURL", "curl ", " curl", "Curl", "URLSession", "libcurl", "0", "none"])
    func `another name is refused with the choices`(name: String) throws {
        let error = try #require(throws: NetworkError.self) {
            try DefaultTransport(environment: ["NETWORK_TRANSPORT": name]).selected
        }
        #expect(error.code == .invalidConfiguration)
        #expect(error.message == "NETWORK_TRANSPORT is '\(name)'; it must be 'curl' or 'urlsession'")
    }

    @Test(arguments: ["curl; shadow=urlsession@1%", "curl@95%, urlsession@5%", "curl;"])
    func `a shadow and a canary need their product, which the error names`(value: String) throws {
        let environment = ["NETWORK_TRANSPORT": value]
        let error = try #require(throws: NetworkError.self) { try DefaultTransport(environment: environment).selected }
        #expect(error.code == .invalidConfiguration)
        for part in [
            "NETWORK_TRANSPORT is \(value);", "the product NetworkRollout", "'import NetworkRollout'",
            "Rollout.enable()",
        ] {
            #expect(error.description.contains(part), "\(error)")
        }
        let transport = DefaultTransport(environment: environment) { text in
            #expect(text == value)
            return URLSessionNetworkDispatcher.shared
        }
        #expect(transport.name == "urlsession")
    }

    /// The ways to send a request, each of which fails with the same error.
    private static let ways: [@Sendable (DefaultTransport, GetRows) async throws -> Void] = [
        { transport, request in _ = try await transport.send(request.data, as: .data) },
        { transport, request in _ = try await request.send(over: transport) },
        { transport, request in
            try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
                request.execute(
                    dispatcher: transport, queue: DispatchQueue(label: "callbacks"), onSuccess: { _ in done.resume() },
                    onError: { done.resume(throwing: $0) })
            }
        },
        { transport, request in
            try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
                transport.dispatch(
                    request: request.data, onSuccess: { _ in done.resume() }, onError: { done.resume(throwing: $0) })
            }
        },
    ]

    @Test(arguments: ways.indices) func `a wrong value fails each request`(way: Int) async throws {
        for _ in 0..<2 {
            expectConfigurationError(
                await #expect(throws: NetworkError.self) { try await Self.ways[way](wrong, request) })
        }
    }

    /// Regression: the pipeline refused requests for the capabilities of no transport, or read their bodies first.
    @Test func `a wrong value is the reason whatever the request needs`() async throws {
        #expect(wrong.name == "none")
        let never = AsyncStream<Data> { _ in }
        var options = [TransportOptions()]
        for authentication in [
            TransportOptions.Authentication.digest(user: "u", password: "p"),
            .awsSigV4(.init(keyID: "k", secretKey: "s", region: "r", service: "s")),
        ] {
            var secured = TransportOptions()
            secured.authentication = authentication
            options.append(secured)
        }
        let client = NetworkClient(transport: wrong)
        for options in options {
            for body in [nil, TransportRequest.Body.bytes(Data("x".utf8)), .stream(never)] {
                if options.authentication != nil, body?.isReplayable == false { continue }
                let request = try TransportRequest(method: .put, to: "http://a/", body: body, options: options)
                expectConfigurationError(
                    await #expect(throws: NetworkError.self) { _ = try await client.send(request, as: .data) })
            }
        }
    }

    @Test(arguments: TransportKind.allCases)
    func `the picked transport carries the requests`(kind: TransportKind) async throws {
        let server = DemoServer()
        try await server.start()
        let picked = DefaultTransport(environment: ["NETWORK_TRANSPORT": kind.rawValue])
        #expect(picked.name == kind.rawValue)
        let rows = try await GetRows(data: RequestData(path: server.baseURL + "/test")).send(over: picked).body
        #expect(rows.map(\.dataField1) == ["1", "2", "3"])
        await server.stop()
    }

    @Test func `the shared instance follows the environment`() async throws {
        let selected = try DefaultTransport(environment: ProcessInfo.processInfo.environment).selected
        #expect(DefaultTransport.shared.name == selected.name)
        #expect(NetworkClient.shared.transport.name == selected.name)
        let server = DemoServer()
        try await server.start()
        let request = GetRows(data: RequestData(path: server.baseURL + "/test"))
        #expect(try await request.send().body.count == 3)
        #expect(try await request.send().status == .ok)
        let count = try await withCheckedThrowingContinuation { continuation in
            request.execute(
                onSuccess: { continuation.resume(returning: $0.count) },
                onError: { continuation.resume(throwing: $0) }
            )
        }
        #expect(count == 3)
        await server.stop()
    }
}

@Suite(.patience(minutes: 1))
struct TransportKindTests {
    @Test(arguments: TransportKind.allCases)
    func `a name is that of a transport`(kind: TransportKind) throws {
        #expect(try TransportKind(name: kind.rawValue, from: "--transport") == kind)
        #expect(kind.transport.name == kind.rawValue)
        #expect(TransportKind.standard == .curl)
    }

    @Test func `an odd name is shown printable and short`() throws {
        let name = "\u{1B}[2J\r\n" + String(repeating: "x", count: 500)
        let error = try #require(throws: NetworkError.self) { try TransportKind(name: name, from: "--transport") }
        #expect(error.message.hasPrefix("--transport is '\\u{1B}[2J\\r\\nxxx"))
        #expect(error.message.count < 200)
    }
}
