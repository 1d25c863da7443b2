import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

/// Checks that extreme values that the option check accepts do not end the process further down.
@Suite("Extreme option values over curl", .patience(minutes: 2))
struct ExtremeOptionTests {
    private struct Option: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let set: @Sendable (inout TransportOptions) -> Void

        init(_ name: String, _ set: @escaping @Sendable (inout TransportOptions) -> Void) {
            testDescription = name
            self.set = set
        }

        /// Sets all timeouts.
        init(_ name: String, timeouts time: Duration?) {
            self.init(name) {
                ($0.connectTimeout, $0.idleTimeout, $0.totalTimeout, $0.firstByteTimeout) = (time, time, time, time)
            }
        }
    }

    private static let year = TransportOptions.maximumTimeout

    private static let options: [Option] = [
        Option("year", timeouts: year), Option("no timeouts", timeouts: nil),
        Option("largest body") { $0.maximumBodyBytes = .max },
        Option("cache") { $0.names.cacheTime = year },
        Option("no cache") { $0.names.cacheTime = .nanoseconds(1) },
        Option("highest rates") { options in
            (options.rate.maximumReceivedPerSecond, options.rate.maximumSentPerSecond) = (1 << 40, 1 << 40)
            options.rate.lowSpeed = .init(bytesPerSecond: 1, for: .seconds(86_400))
        },
        // The response has to arrive within the time.
        Option("highest low speed") { $0.rate.lowSpeed = .init(bytesPerSecond: 1 << 40, for: .milliseconds(29_999)) },
        Option("keep-alive") { options in
            var keepAlive = TransportOptions.Connection.KeepAlive()
            (keepAlive.idle, keepAlive.interval) = (.seconds(32_767), .milliseconds(1_001))
            options.connection.keepAlive = keepAlive
        },
    ]

    @Test(arguments: options) private func `an extreme value that is accepted works`(option: Option) async throws {
        try await withServer(.ok()) { server in
            let request = try makeRequest(server.url(), options: option.set)
            try request.options.check()
            let response = try await CurlNetworkDispatcher().send(request)
            #expect(response.head.status == .ok)
            _ = try await response.body.collect(upTo: .max)
        }
    }

    @Test(arguments: [0, 1, -1, .max, .min] as [Int])
    func `an extreme limit of a dispatcher is accepted`(limit: Int) async throws {
        try await withServer(.ok(), .ok()) { server async throws in
            let curl = CurlNetworkDispatcher {
                ($0.maximumConnections, $0.maximumConnectionsPerOrigin, $0.loops) = (limit, limit, limit)
                // A queue without places has no room for a request that must wait.
                $0.maximumQueued = max(1, limit)
            }
            #expect(try await Exchange(server.url(), over: curl).status == 200)
        }
    }

    /// Regression: a resolver's loop has more connections than the limit, and their sum trapped.
    @Test(
        .enabled(if: Libcurl.found.version >= LibcurlVersion(7, 88, 1), "over HTTPS from libcurl 7.88.1 on"),
        arguments: [1, .max, .min, Int(Int32.max)] as [Int])
    func `an extreme limit is accepted with names looked up over HTTPS`(limit: Int) async throws {
        try await withServer([.close]) { names in
            let curl = CurlNetworkDispatcher {
                ($0.maximumConnections, $0.maximumConnectionsPerOrigin, $0.maximumQueued) = (limit, limit, limit)
            }
            await #expect(throws: NetworkError.self) {
                try await Exchange("http://unknown.example/", over: curl) { $0.lookUp(at: names) }
            }
        }
    }
}
