import Foundation
import Synchronization
import TestSupport
import Testing

@testable import NetworkCore

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

    /// Regression: a body that the library reads itself took the chunks for as long as they came.
    @Test(arguments: [false, true]) func `a producer of empty chunks ends with its task`(isCompressed: Bool)
        async throws
    {
        let asked = Guarded(0)
        let endless = AsyncStream { () -> Data? in
            // By the task itself: readers that never wait may have all threads of the pool.
            if asked.withLock({
                $0 += 1; return $0
            }) == 100 {
                withUnsafeCurrentTask { $0?.cancel() }
            }
            return Data()
        }
        var body = TransportRequest.Body.stream(endless)
        if isCompressed { body = try body.gzipped(level: 1) }
        let reading = Task { [body] in try await body.read { _ in } }
        await #expect(throws: (any Error).self) { try await reading.value }
    }

    /// Regression: the wait for it never ended.
    @Test func `a producer that does not end is ended by the deadline`() async {
        await expectFailure(.totalTimeout) {
            try await send(.stream(chunks("ab", ends: false)), timeout: .milliseconds(50))
        }
    }
}

@Suite struct BodyFileTests {
    @Test func `a path of no regular file is refused in its own words`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "body-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try #require(mkfifo(folder + "/pipe", 0o600) == 0)
        for path in [folder + "/pipe", "/dev/null"] {
            let error = expectFailure(.unreadableFile) { try TransportRequest.Body.file(path) }
            #expect(error?.underlying?.message == "it is not a regular file", "\(error as Any)")
        }
        let error = expectFailure(.unreadableFile) { try TransportRequest.Body.file(folder) }
        #expect(error?.underlying?.code == Int(EISDIR))
    }
}
