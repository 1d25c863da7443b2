import Foundation
import NetworkLayer
import NetworkTesting

@testable import NetworkRollout

/// A transport that does what a closure says.
struct ClosureTransport: HTTPTransport {
    var name = "closure"
    var capabilities = StubTransport().capabilities
    let respond: @Sendable (TransportRequest) async throws -> TransportResponse

    func send(_ request: TransportRequest) async throws -> TransportResponse { try await respond(request) }
}

extension ShadowTransport {
    /// Waits until each shadow is counted, on a busy machine too.
    func settle() async {
        func running(_ counts: Counts) -> Int {
            counts.shadowed - counts.same - counts.knownDifferences - counts.differences - counts.unfinished
        }
        repeat { await waitForShadows() } while running(counts) > 0 && !Task.isCancelled
    }

    /// Sends a GET, reads its body, and waits for the shadow.
    @discardableResult
    func settledGet(_ url: RequestURL) async throws -> Data {
        let body = try await send(TransportRequest(url: url)).body.collect()
        await settle()
        return body
    }
}
