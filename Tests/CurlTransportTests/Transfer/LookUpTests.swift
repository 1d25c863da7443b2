import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

@Suite("The lookup of a name", .patience(minutes: 1))
struct LookUpTests {
    private let start = MonotonicTime(nanoseconds: 1_000)

    @Test func `a socket ends a lookup, and so does the request's end`() {
        var lookUp = LookUp()
        #expect(!lookUp.isUnderWay(at: start))
        for isEndedBySocket in [true, false] {
            lookUp.begins(at: start)
            #expect(lookUp.isUnderWay(at: start + .seconds(3_600)) && lookUp.isKnown)
            if isEndedBySocket { lookUp.socketOpened() } else { lookUp.requestGoesOut() }
            #expect(!lookUp.isUnderWay(at: start) && !lookUp.isKnown)
            lookUp.requestGoesOut()
        }
    }

    @Test func `the address of an interface is no lookup`() {
        var lookUp = LookUp()
        #expect(lookUp.isOfPeer(isBehindProxy: false))
        lookUp.begins(at: start)
        lookUp.socketOpened()
        #expect(!lookUp.isOfPeer(isBehindProxy: false) && lookUp.isOfPeer(isBehindProxy: true))
        #expect(!lookUp.isUnderWay(at: start))
    }

    @Test func `behind a proxy, a lookup is waited for no longer than it can take`() {
        var lookUp = LookUp()
        lookUp.begins(at: start)
        lookUp.socketOpened()
        lookUp.begins(at: start)
        #expect(lookUp.isUnderWay(at: start + .seconds(29)) && !lookUp.isKnown)
        #expect(!lookUp.isUnderWay(at: start + LookUp.longestUnseen))
    }

    @Test(arguments: [
        ("socks4://a:1", true), ("SOCKS5://a", true), ("socks://a", true), ("socks4a://a", false),
        ("socks5h://a", false), ("http://socks4", false), ("", false),
    ])
    func `some proxies are told addresses`(url: String, takesAddresses: Bool) {
        #expect(ProxyOption.takesAddresses(url) == takesAddresses)
    }

    /// Calls a closure with a resolver that stays silent, and a proxy that does, except that SOCKS5 has a greeting,
    /// whose only reply is 'no password'.
    private func withSilence(
        _ scheme: String,
        _ body: (
            _ names: ScriptedServer, _ proxy: ScriptedServer,
            _ way: @escaping @Sendable (inout TransportOptions) -> Void
        ) async throws -> Void
    ) async throws {
        let names = try ScriptedServer([.stall])
        let proxy = try ScriptedServer(scheme == "socks4" ? [.stall] : [.send(Data([5, 0])), .stall])
        defer { for server in [names, proxy] { server.stop() } }
        try await body(names, proxy) {
            $0.proxy = .server("\(scheme)://127.0.0.1:\(proxy.port)")
            $0.lookUp(at: names)
        }
    }

    /// libcurl below 8.9 leaves the connections of a lookup over HTTPS open when its transfer is removed.
    @Test(.enabled(if: looksUpOverHTTPS), arguments: ["socks4", "socks5"])
    func `behind a SOCKS proxy, a lookup ends before its transfer is forgotten`(scheme: String) async throws {
        try await withSilence(scheme) { names, _, way in
            let dispatcher = CurlNetworkDispatcher()
            let request = Task {
                try await Exchange("http://unknown.example/", over: dispatcher) {
                    way(&$0)
                    // The lookup has to begin within it, and its connection ends with it.
                    $0.connectTimeout = .seconds(3 * patienceFactor)
                }
            }
            try await names.wait { $0.connectionCount > 0 }
            request.cancel()
            await expectFailure(.cancelled) { _ = try await request.value }
            // libcurl's timeout is a quarter longer.
            try await names.wait(atMost: .seconds(30 * patienceFactor)) {
                $0.connectionsEndedByPeer == $0.connectionCount
            }
        }
    }

    /// Regression: the connection to the proxy was taken for the end of the lookup, so that all requests looked up the
    /// name at once.
    @Test(.enabled(if: looksUpOverHTTPS), arguments: ["socks4", "socks5"])
    func `behind a SOCKS proxy, a limited number of requests look up a name`(scheme: String) async throws {
        try await withSilence(scheme) { names, proxy, way in
            let limit = 2 * Admission.coldLimit
            let dispatcher = CurlNetworkDispatcher { ($0.maximumConnectionsPerOrigin, $0.maximumQueued) = (limit, 0) }
            try await withThrowingTaskGroup(of: NetworkError.Code?.self) { group in
                for _ in 0..<limit + 1 {
                    group.addTask {
                        do {
                            _ = try await Exchange("http://unknown.example/", over: dispatcher) {
                                way(&$0)
                                // An instrumented libcurl is slow on a busy machine.
                                $0.connectTimeout = .seconds(50)
                            }
                            return nil
                        } catch { return NetworkError.code(of: error) }
                    }
                }
                // All but one of the requests look up the name or wait to; the last one is refused.
                #expect(try await group.next() == .overloaded)
                try await proxy.wait { $0.connectionCount >= Admission.coldLimit }
                // Newer libcurl versions send all lookups over one connection.
                try await names.wait { $0.connectionCount > 0 }
                // A connection that opened too early would be there before this one, whose URL names the proxy itself.
                group.addTask {
                    _ = try? await Exchange("http://127.0.0.1:\(proxy.port)/", over: dispatcher)
                    return nil
                }
                try await proxy.wait { $0.connectionCount > Admission.coldLimit }
                #expect(proxy.connectionCount == Admission.coldLimit + 1)
                group.cancelAll()
                for try await case let code? in group { #expect(code == .cancelled) }
            }
        }
    }
}

@Suite("Addresses that refuse connections", .patience(minutes: 1))
struct RefusedAddressTests {
    private let dispatcher = CurlNetworkDispatcher()

    /// From 7.88 to 8.3, libcurl tries the next address only after half of the connect timeout, which is far away here.
    @Test(arguments: [1, 2, 4])
    func `refused addresses are followed by the next one at once`(count: Int) async throws {
        try await withServer(.ok("x")) { server in
            let places = (0..<count).map { "127.0.0.\($0 + 2)" } + ["127.0.0.1"]
            let exchange = try await Exchange("http://many.test:\(server.port)/", over: dispatcher) {
                $0.names.addresses = [.init("many.test", port: Int(server.port), places)]
                $0.connectTimeout = .seconds(3_600)
            }
            #expect(exchange.text == "x")
        }
    }

    /// From 7.88 to 8.1 libcurl closes the socket of a silent address without a report, and waits.
    @Test func `a silent address is followed by the next one`() async throws {
        try await withServer(.ok("x")) { server in
            let full = try FullListener(on: server.port, of: "127.0.0.2")
            defer { full.stop() }
            let exchange = try await Exchange("http://two.test:\(full.port)/", over: dispatcher) {
                $0.pin("two.test", to: "127.0.0.2", "127.0.0.1", port: full.port)
                // Half of it is the silent address's, and in the other half the next one has to respond.
                $0.connectTimeout = .seconds(4 * patienceFactor)
            }
            #expect(exchange.text == "x")
        }
    }

    /// Regression: until libcurl had run it, a kept handle told the last request's times, and only libcurl's own
    /// timeout, which is longer, ended the connecting.
    @Test(arguments: [true, false])
    func `a request with a kept handle has its own connect timeout`(isSameOrigin: Bool) async throws {
        let server = try ScriptedServer([.read, .respond(200, "x", fields: [("Connection", "close")]), .close])
        func send(_ url: String, connectTimeout: Duration) async throws -> String {
            try await Exchange(url, over: dispatcher) { $0.connectTimeout = connectTimeout }.text
        }
        // So long that no look is due for the second one.
        #expect(try await send(server.url(), connectTimeout: .seconds(3_600)) == "x")
        server.stop()
        let full = isSameOrigin ? try FullListener(on: server.port, of: "127.0.0.1") : try FullListener()
        defer { full.stop() }
        let error = await expectFailure(.connectTimeout) { try await send(full.url(), connectTimeout: .seconds(2)) }
        #expect(error?.underlying == nil, "\(error as Any)")
    }

    @Test func `refused addresses are an error when none is left`() async throws {
        let closed = try ClosedPort()
        defer { closed.stop() }
        await expectFailure(.connectFailed) {
            try await Exchange("http://many.test:\(closed.port)/", over: dispatcher) {
                $0.pin("many.test", to: "127.0.0.1", "127.0.0.2", "127.0.0.3", port: closed.port)
                $0.connectTimeout = .seconds(3_600)
            }
        }
    }
}
