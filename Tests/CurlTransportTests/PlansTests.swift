import Foundation
import Logging
import NetworkCore
import Testing

@testable import CurlTransport

/// What requests with one plan share was found for the first of them alone.
@Suite("Plans")
struct PlansTests {
    private static let loop = Result { try CurlLoop(limits: LoopLimits()) }

    private static func request(
        _ url: String = "http://a.test/", _ change: (inout TransportOptions) -> Void = { _ in }
    ) throws -> TransportRequest {
        var options = TransportOptions()
        change(&options)
        return TransportRequest(url: try RequestURL(url), options: options)
    }

    /// Returns the plan of a request, and whether it was made for it.
    private static func plan(of request: TransportRequest, in plans: Plans) throws -> (plan: Plan, isNew: Bool) {
        var isNew = false
        let loop = try loop.get()
        let entry = try plans.plan(for: request) {
            isNew = true
            let origin = Origin(request.url, request.options)
            let plan = Plan(request, origin: origin, clock: loop.clock, trustsAnyServer: false)
            return Plans.Entry(plan: plan, loop: loop)
        }
        return (entry.plan, isNew)
    }

    @Test func `requests that differ in what a plan says have plans of their own`() throws {
        let plans = Plans()
        let log = WireLog(Logger(label: "plans") { _ in SwiftLogNoOpLogHandler() })
        let others = [
            try Self.request("https://a.test/"), try Self.request("http://b.test/"),
            try Self.request("http://a.test:81/"),
            try Self.request { $0.httpVersion = .http1_0 }, try Self.request { $0.connectTimeout = .seconds(3) },
            try Self.request { $0.connectTimeout = nil }, try Self.request { $0.wireLog = log },
            try Self.request { $0.tls.minimumVersion = .tls1_3 }, try Self.request { $0.proxy = .none },
            try Self.request { $0.authentication = .basic(user: "user", password: "secret") },
            try Self.request { $0.connection.forbidsReuse = true }, try Self.request { $0.acceptedEncodings = [.gzip] },
        ]
        let first = try Self.plan(of: Self.request(), in: plans)
        #expect(first.isNew)
        for request in others {
            #expect(try Self.plan(of: request, in: plans).isNew, "\(request.url) \(request.options)")
            // Also as the one that was asked for last.
            #expect(try !Self.plan(of: request, in: plans).isNew)
        }
        let again = try Self.plan(of: Self.request("http://a.test/other?q"), in: plans)
        #expect(again.plan === first.plan)
    }

    @Test func `options that are changed are others`() throws {
        let plans = Plans()
        var request = try Self.request { $0.proxy = .explicit(.init("http://proxy.test:1")) }
        let first = try Self.plan(of: request, in: plans)
        request.options.tls.pinnedPublicKeys = ["sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]
        let second = try Self.plan(of: request, in: plans)
        #expect(second.isNew && first.plan.key != second.plan.key)
    }

    /// The timeouts and limits are the request's own, whatever the plan's first request had.
    @Test func `limits of another request do not count`() throws {
        let plans = Plans()
        let plan = try Self.plan(of: Self.request { $0.totalTimeout = .seconds(1) }, in: plans).plan
        let other = try Self.request { $0.totalTimeout = .seconds(9) }
        #expect(try !Self.plan(of: other, in: plans).isNew)
        #expect(!plan.hasLimits(of: other.options))
        #expect(plan.hasLimits(of: try Self.request { $0.totalTimeout = .seconds(1) }.options))
    }

    /// A program may read its authorities anew for each request.
    @Test func `few groups of options are kept`() throws {
        let plans = Plans()
        weak var first: Plan?
        for number in 0..<200 {
            let plan = try Self.plan(
                of: Self.request { $0.tls.authorities = .bytes(Data(repeating: 0x41, count: 1_000 + number)) },
                in: plans
            ).plan
            if number == 0 { first = plan }
        }
        #expect(first == nil)
    }
}
