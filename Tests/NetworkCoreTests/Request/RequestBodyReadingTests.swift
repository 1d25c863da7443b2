import Foundation
import NetworkCore
import TestSupport
import Testing

@Suite(.patience(minutes: 1))
struct RequestBodyReadingTests {
    private func send(_ body: TransportRequest.Body, timeout: Duration? = nil) async throws -> [TransportRequest] {
        let transport = AnsweringTransport(streamsBodies: false) { _ in .init() }
        let client = NetworkClient(transport: transport)
        var request = try TransportRequest.make(.post, "http://h/")
        request.body = body
        request.options.totalTimeout = timeout
        request.options.maximumBodyBytes = 10
        _ = try await client.send(request, as: .stream)
        return transport.requests
    }

    private func chunks(_ texts: String..., ends: Bool = true) -> AsyncStream<Data> {
        AsyncStream { continuation in
            for text in texts { continuation.yield(Data(text.utf8)) }
            if ends { continuation.finish() }
        }
    }

    @Test func `a body is read into memory`() async throws {
        let sent = try await send(.stream(chunks("ab", "c"), length: 3))
        #expect(sent.map { $0.body?.knownBytes } == [Data("abc".utf8)])
        await expectFailure(.bodyTooLarge) { try await send(.stream(chunks("12345", "678901"))) }
    }

    /// Regression: the body was sent with its actual length.
    @Test(arguments: [2, 4]) func `a length that is not the announced one is an error`(length: Int) async {
        await expectFailure(.bodyLengthMismatch) { try await send(.stream(chunks("ab", "c"), length: length)) }
    }

    /// Regression: the wait for it never ended.
    @Test func `a producer that does not end is ended by the deadline`() async {
        await expectFailure(.totalTimeout) {
            try await send(.stream(chunks("ab", ends: false)), timeout: .milliseconds(50))
        }
    }
}
