import NetworkCore

@testable import CurlTransport

extension Transfer {
    /// Creates the transfer of a request with a plan of its own.
    convenience init(_ request: TransportRequest, over loop: CurlLoop) throws {
        let origin = Origin(request.url, request.options)
        let plan = Plan(request, origin: origin, clock: loop.clock, trustsAnyServer: false)
        try self.init(request, plan: plan)
    }
}
