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

    /// libcurl below 8.9 leaves the connections of a lookup over HTTPS open when its transfer is removed.
    @Test(.enabled(if: looksUpOverHTTPS), arguments: ["socks4", "socks5"])
    func `behind a SOCKS proxy, a lookup ends before its transfer is forgotten`(scheme: String) async throws {
        let names = try ScriptedServer([.stall])
        let proxy = try ScriptedServer(Self.proxy(scheme))
        defer {
            names.stop()
            proxy.stop()
        }
        let dispatcher = CurlNetworkDispatcher()
        let request = Task {
            try await OptionExchange("http://unknown.example/", over: dispatcher) {
                Self.setWay(&$0, scheme, by: proxy, asking: names)
                // The lookup has to begin within it, and its connection ends with it.
                $0.connectTimeout = .seconds(3 * patienceFactor)
            }
        }
        try await names.wait { $0.connectionCount > 0 }
        request.cancel()
        await #expect(throws: NetworkError.self) { _ = try await request.value }
        // libcurl's timeout is a quarter longer.
        try await names.wait(atMost: .seconds(30 * patienceFactor)) {
            $0.connectionsEndedByPeer == $0.connectionCount
        }
    }

    /// Regression: the connection to the proxy was taken for the end of the lookup, so that all requests looked up the
    /// name at once.
    @Test(.enabled(if: looksUpOverHTTPS), arguments: ["socks4", "socks5"])
    func `behind a SOCKS proxy, a limited number of requests look up a name`(scheme: String) async throws {
        let names = try ScriptedServer([.stall])
        let proxy = try ScriptedServer(Self.proxy(scheme))
        defer {
            names.stop()
            proxy.stop()
        }
        var configuration = CurlNetworkDispatcher.Configuration()
        configuration.maximumConnectionsPerOrigin = 2 * Admission.coldLimit
        configuration.maximumQueued = 0
        let dispatcher = CurlNetworkDispatcher(configuration: configuration)
        try await withThrowingTaskGroup(of: NetworkError.Code?.self) { group in
            for _ in 0..<configuration.maximumConnectionsPerOrigin + 1 {
                group.addTask {
                    do {
                        _ = try await OptionExchange("http://unknown.example/", over: dispatcher) {
                            Self.setWay(&$0, scheme, by: proxy, asking: names)
                            // An instrumented libcurl is slow on a busy machine.
                            $0.connectTimeout = .seconds(50)
                        }
                        return nil
                    } catch { return (error as? NetworkError)?.code }
                }
            }
            // All but one of the requests look up the name or wait to; the last one is refused.
            #expect(try await group.next() == .overloaded)
            try await proxy.wait { $0.connectionCount >= Admission.coldLimit }
            // Newer libcurl versions send all lookups over one connection.
            try await names.wait { $0.connectionCount > 0 }
            // A connection that opened too early would be there before this one, whose URL names the proxy itself.
            group.addTask {
                _ = try? await OptionExchange("http://127.0.0.1:\(proxy.port)/", over: dispatcher)
                return nil
            }
            try await proxy.wait { $0.connectionCount > Admission.coldLimit }
            #expect(proxy.connectionCount == Admission.coldLimit + 1)
            group.cancelAll()
            for try await case let code? in group { #expect(code == .cancelled) }
        }
    }

    /// A proxy that stays silent, except that SOCKS5 has a greeting, whose only reply is 'no password'.
    private static func proxy(_ scheme: String) -> Script {
        scheme == "socks4" ? [.stall] : [.send(Data([5, 0])), .stall]
    }

    private static func setWay(
        _ options: inout TransportOptions, _ scheme: String, by proxy: ScriptedServer, asking names: ScriptedServer
    ) {
        options.proxy = .explicit(TransportOptions.Proxy.Server("\(scheme)://127.0.0.1:\(proxy.port)"))
        options.names.dnsOverHTTPS = "https://127.0.0.1:\(names.port)/dns-query"
    }
}
