import Synchronization
import Testing

@testable import NetworkCore

@Suite("The record of a call")
struct CallRecordTests {
    /// Runs a closure when it goes.
    private final class Witness: Sendable {
        private let goes: @Sendable () -> Void
        init(_ goes: @escaping @Sendable () -> Void) { self.goes = goes }
        deinit { goes() }
    }

    /// Regression: a request went under the call's lock, and what it held took the lock again, which ends the process.
    @Test func `what a request holds may ask the call when it goes`() throws {
        let call = NetworkClient.Call()
        let seen = Guarded<[Int]>([])
        func request() throws -> TransportRequest {
            let witness = Witness { [call] in
                let exchanges = call.exchanges
                seen.withLock { $0.append(exchanges) }
            }
            var request = TransportRequest(url: try RequestURL("http://a/"))
            request.options.progress = { _ in withExtendedLifetime(witness) {} }
            return request
        }
        call.beginExchange(try request())
        call.beginExchange(try request())
        call.gotResponse(to: try request())
        #expect(seen.withLock { $0 } == [2, 2])
    }
}
