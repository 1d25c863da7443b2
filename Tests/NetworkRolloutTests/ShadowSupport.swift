import Foundation
import NetworkLayer
import NetworkTesting
import Synchronization

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

    /// Sends a request, reads the response's body, and waits for the shadow.
    @discardableResult
    func settled(_ request: TransportRequest) async throws -> Data {
        let body = try await send(request).body.collect()
        await settle()
        return body
    }
}

/// The differences that were reported.
final class Differences: Sendable {
    private let list = Guarded<[ShadowTransport.Difference]>([])

    func add(_ difference: ShadowTransport.Difference) { list.withLock { $0.append(difference) } }
    var all: [ShadowTransport.Difference] { list.withLock { $0 } }
    var places: [String] { all.flatMap(\.places).map(\.name) }
}

/// A suite whose shadows report to it.
protocol ShadowSuite {
    var differences: Differences { get }
}

extension ShadowSuite {
    var url: RequestURL {
        guard let url = try? RequestURL("http://example.test/users?token=classified") else { preconditionFailure() }
        return url
    }

    /// Options with which each request has a shadow.
    var always: ShadowTransport.Options {
        var options = ShadowTransport.Options()
        (options.share, options.maximumLoad) = (1, 1)
        return options
    }

    func transport(
        _ primary: any HTTPTransport, _ shadow: any HTTPTransport, _ options: ShadowTransport.Options? = nil
    ) -> ShadowTransport {
        ShadowTransport(primary: primary, shadow: shadow, options: options ?? always) { [differences] in
            differences.add($0)
        }
    }

    /// Returns a transport whose primary responds with `x`.
    func shadowed(by shadow: any HTTPTransport, _ options: ShadowTransport.Options? = nil) -> ShadowTransport {
        transport(StubTransport(always: .text("x")), shadow, options)
    }

    /// Sends a GET, reads its body, and waits for the shadow.
    @discardableResult
    func get(_ transport: ShadowTransport) async throws -> Data {
        try await transport.settled(TransportRequest(url: url))
    }
}
