import TestSupport
import Testing

@testable import NetworkCore

@Suite(.patience(minutes: 1))
struct CallDeadlineTests {
    /// Regression: it was thrown as a CancellationError, which callers of this library do not catch.
    @Test(arguments: [nil, .seconds(60)] as [Duration?])
    func `cancelled work is a cancellation of the library`(timeout: Duration?) async {
        let call = NetworkClient.Call(totalTimeout: timeout)
        let task = Task {
            try await call.withinDeadline {
                try await Self.waitForCancellation()
            }
        }
        task.cancel()
        await expectFailure(.cancelled) { try await task.value }
    }

    @Test func `the deadline ends the work`() async {
        let call = NetworkClient.Call(totalTimeout: .milliseconds(20))
        await expectFailure(.totalTimeout) {
            try await call.withinDeadline {
                try await Self.waitForCancellation()
            }
        }
    }

    /// Regression: the message named the call's timeout, which was far away.
    @Test func `a step's timeout keeps its message`() throws {
        let call = NetworkClient.Call(totalTimeout: .seconds(300))
        var request = try TransportRequest.make(.get, "http://a/")
        request.options.totalTimeout = .seconds(300)
        let timeout = NetworkError(.totalTimeout, "the token was not renewed within 60.0 seconds", phase: .waiting)
        let error = call.noted(in: timeout, of: request, transport: "t") as? NetworkError
        #expect(error?.message == timeout.message)
    }

    /// Regression: the error's details were lost with the cancelled work.
    @Test func `an error at the deadline says what the work knew`() async {
        let call = NetworkClient.Call(totalTimeout: .milliseconds(20))
        let error = await expectFailure(.totalTimeout) {
            try await call.withinDeadline {
                do {
                    try await Self.waitForCancellation()
                } catch {
                    throw NetworkError(.cancelled, "ended", phase: .receiving)
                }
            }
        }
        #expect(error?.phase == .receiving)
    }

    private static func waitForCancellation() async throws {
        let (never, continuation) = AsyncStream<Void>.makeStream()
        for await _ in never {}
        continuation.finish()
        try Task.checkCancellation()
    }
}
