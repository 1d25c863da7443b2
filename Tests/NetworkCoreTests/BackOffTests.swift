import Testing

@testable import NetworkCore

struct BackOffTests {
    @Test func `a delay doubles up to its limit`() {
        let backOff = BackOff(first: .milliseconds(500), limit: .seconds(5))
        let delays = (0...6).map { backOff.delay(after: $0, jitter: 0) }
        #expect(delays == [0.5, 0.5, 1, 2, 4, 5, 5].map { .seconds($0) })
        #expect(backOff.delay(after: 2, jitter: 0.25) == .milliseconds(1_250))
        #expect(backOff.delay(after: 5, jitter: 1) == .seconds(5))
        #expect(BackOff(first: .zero, limit: .seconds(5)).delay(after: 9, jitter: 1) == .zero)
        #expect(BackOff(first: .seconds(9), limit: .zero).delay(after: 9, jitter: 1) == .zero)
    }

    /// Regression: streams of events and downloads gave up after a failure of the proxy, which calls retried.
    @Test func `a retried failure is a loss of the connection too`() {
        #expect(NetworkError(.truncatedBody, "x").isConnectionLoss)
        for code in RetryInterceptor.Policy().codes {
            #expect(NetworkError(code, "x").isConnectionLoss, "\(code.rawValue)")
        }
    }

    /// Regression: a server's `retry:` overflowed when it was doubled, which ended the process.
    @Test(arguments: [1, 2, 30, .max]) func `enormous times do not trap`(failures: Int) {
        let enormous = Duration.milliseconds(Int64.max)
        #expect(BackOff(first: enormous, limit: .seconds(30)).delay(after: failures, jitter: 1) == .seconds(30))
        #expect(BackOff(first: enormous, limit: enormous).delay(after: failures, jitter: 0) <= enormous)
    }
}
