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
    }

    private static let year = TransportOptions.maximumTimeout

    private static let options: [Option] = [
        Option("year") { options in
            (options.connectTimeout, options.idleTimeout) = (year, year)
            (options.totalTimeout, options.firstByteTimeout) = (year, year)
        },
        Option("no timeouts") { options in
            (options.connectTimeout, options.idleTimeout) = (nil, nil)
            (options.totalTimeout, options.firstByteTimeout) = (nil, nil)
        },
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
            let curl = CurlNetworkDispatcher()
            var request = TransportRequest(url: try RequestURL(server.url()))
            option.set(&request.options)
            try request.options.check()
            let response = try await curl.send(request)
            #expect(response.head.status == .ok)
            _ = try await response.body.collect(upTo: .max)
            await curl.shutDown(within: .seconds(1))
        }
    }

    /// Regression: more seconds than 64 bits can hold trapped.
    @Test(arguments: [.seconds(Int64.max) * 2, .seconds(Int64.max), .seconds(Int64.min) * 2, .zero] as [Duration])
    func `an extreme patience of a shutdown is accepted`(patience: Duration) async throws {
        let curl = CurlNetworkDispatcher()
        _ = try curl.loopExecutor()
        await curl.shutDown(within: patience)
    }

    @Test(arguments: [0, 1, -1, .max, .min] as [Int])
    func `an extreme limit of a dispatcher is accepted`(limit: Int) async throws {
        try await withServer(.ok(), .ok()) { server in
            var configuration = CurlNetworkDispatcher.Configuration()
            configuration.maximumConnections = limit
            configuration.maximumConnectionsPerOrigin = limit
            configuration.loops = limit
            // A queue without places has no room for a request that must wait.
            configuration.maximumQueued = max(1, limit)
            let curl = CurlNetworkDispatcher(configuration: configuration)
            let request = TransportRequest(url: try RequestURL(server.url()))
            #expect(try await curl.send(request).head.status == .ok)
            await curl.shutDown(within: .seconds(1))
        }
    }

    /// Regression: a resolver's loop has more connections than the limit, and their sum trapped.
    @Test(
        .enabled(if: Libcurl.found.version >= LibcurlVersion(7, 88, 1), "over HTTPS from libcurl 7.88.1 on"),
        arguments: [1, .max, .min, Int(Int32.max)] as [Int])
    func `an extreme limit is accepted with names looked up over HTTPS`(limit: Int) async throws {
        try await withServer([.close]) { names in
            var configuration = CurlNetworkDispatcher.Configuration()
            (configuration.maximumConnections, configuration.maximumConnectionsPerOrigin) = (limit, limit)
            configuration.maximumQueued = limit
            let curl = CurlNetworkDispatcher(configuration: configuration)
            var request = TransportRequest(url: try RequestURL("http://unknown.example/"))
            request.options.names.dnsOverHTTPS = "https://127.0.0.1:\(names.port)/dns-query"
            let asking = request
            await #expect(throws: NetworkError.self) { try await curl.send(asking) }
            await curl.shutDown(within: .seconds(1))
        }
    }
}
