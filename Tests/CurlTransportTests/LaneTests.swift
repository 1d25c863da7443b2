import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

@Suite("Sharing of loops", .patience(minutes: 1))
struct LaneTests {
    private let origin = Origin(isSecure: true, host: "a", port: 443)

    private func options(_ change: (inout TransportOptions) -> Void = { _ in }) -> TransportOptions {
        var options = TransportOptions()
        change(&options)
        return options
    }

    @Test func `a loop that has ended is replaced, unless the group was shut down`() async throws {
        let group = LoopGroup(limits: LoopLimits())
        let loop = try group.first()
        // As it does when its multi handle can't be made anew.
        loop.shutDown(within: .zero)
        await loop.end.wait()
        let next = try group.first()
        #expect(next !== loop)
        #expect(try group.first() === next)
        for loop in group.shutDown(within: .zero) { await loop.end.wait() }
        expectFailure(.shutDown) { _ = try group.first() }
    }

    @Test func `requests with a resolver share connections with no others`() {
        let plain = Lane(options(), to: origin, loops: 1)
        let first = Lane(options { $0.names.dnsOverHTTPS = "https://one.example/dns" }, to: origin, loops: 1)
        let second = Lane(options { $0.names.dnsOverHTTPS = "https://two.example/dns" }, to: origin, loops: 1)
        #expect(Set([plain, first, second]).count == 3)
        #expect(plain.resolver == nil && first.resolver != nil)
        #expect(plain == Lane(options { $0.rate.maximumSentPerSecond = 1 }, to: origin, loops: 1))
    }

    /// Regression: a request that did not trust a resolver got the addresses that another request had from it.
    @Test func `a resolver that requests trust by other authorities is another one`() {
        let all: [TransportOptions.TLS.Authorities] = [
            .system, .file("/one.pem"), .directory("/one.pem"), .file("/\u{E9}"), .file("/e\u{301}"),
        ]
        let lanes = all.map { authorities in
            let options = options {
                $0.names.dnsOverHTTPS = "https://one.example/dns"
                $0.tls.authorities = authorities
            }
            return Lane(options, to: origin, loops: 1)
        }
        #expect(Set(lanes).count == all.count)
    }

    /// Regression: most libcurls keep the addresses of one IP version under the name alone, and ordinary requests
    /// got them.
    @Test func `addresses of one IP version serve no request that wants any`() {
        let lanes = TransportOptions.Connection.IPVersion.allCases.map { version in
            Lane(options { $0.connection.ipVersion = version }, to: origin, loops: 1)
        }
        #expect(Set(lanes).count == 3 && lanes.allSatisfy { $0.resolver == nil })
        #expect(lanes.contains(Lane(options(), to: origin, loops: 1)))
    }

    @Test func `a dispatcher has a limited number of resolvers`() async throws {
        let group = LoopGroup(limits: LoopLimits())
        for number in 0..<LoopGroup.maximumResolvers {
            let options = options { $0.names.dnsOverHTTPS = "https://r\(number).example/" }
            let loop = try group.loop(for: options, to: origin)
            #expect(try group.loop(for: options, to: origin) === loop)
            var ofOneVersion = options
            ofOneVersion.connection.ipVersion = .v4
            #expect(try group.loop(for: ofOneVersion, to: origin) !== loop)
        }
        #expect {
            try group.loop(for: options { $0.names.dnsOverHTTPS = "https://more.example/" }, to: origin)
        } throws: {
            ($0 as? NetworkError)?.code == .invalidOption
        }
        _ = try group.loop(for: options(), to: origin)
        for loop in group.shutDown(within: .zero) { await loop.end.wait() }
    }

    /// Regression: a mistyped interface was looked up as a host, while every other exchange of the dispatcher waited.
    @Test(arguments: ["eth9", "no.such.host"])
    func `an interface that does not exist is an error at once`(name: String) async throws {
        let server = try ScriptedServer(.ok())
        defer { server.stop() }
        await #expect {
            _ = try await OptionExchange(server.url()) { $0.connection.interface = name }
        } throws: {
            ($0 as? NetworkError)?.code == .connectFailed && "\($0)".contains("connection.interface")
        }
    }

    @Test(arguments: ["host!localhost", "if!lo", "fe80::1%lo", "a.host.name.of.some.length", ""])
    func `a text that is neither an address nor an interface is refused`(name: String) async throws {
        await #expect {
            _ = try await OptionExchange("http://127.0.0.1:1/") { $0.connection.interface = name }
        } throws: {
            ($0 as? NetworkError)?.code == .invalidOption
        }
    }

    @Test func `a connection from an address serves no request that asked for none`() async throws {
        let server = try ScriptedServer(.ok())
        defer { server.stop() }
        let dispatcher = CurlNetworkDispatcher()
        let bound = try await OptionExchange(server.url(), over: dispatcher) { $0.connection.interface = "127.0.0.2" }
        #expect(bound.metrics.localAddress?.hasPrefix("127.0.0.2:") == true)
        let free = try await OptionExchange(server.url(), over: dispatcher)
        #expect(free.metrics.localAddress?.hasPrefix("127.0.0.1:") == true)
        #expect(free.metrics.connectionReused == false)
    }
}
