import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

/// OpenSSL reads records without data in one call for as long as they arrive, which would block the loop's thread.
@Suite(
    "TLS records without data",
    .enabled(if: TLSGuard.isBounded, "only OpenSSL reports them, and libcurl uses another library"),
    .patience(minutes: 1))
struct RecordFloodTests {
    /// Returns a script that sends HelloRequests without end in place of a response to the ClientHello, `count` of them
    /// in a record.
    private static func hellos(_ count: Int) -> Script {
        let length = count * 4
        let record = Data([22, 3, 3, UInt8(length >> 8), UInt8(length & 0xFF)]) + Data(count: length)
        let some = (0..<max(1, 65_536 / record.count)).reduce(into: Data()) { data, _ in data += record }
        return [.readBody(1), .flood(some)]
    }

    @Test(arguments: [1, 4_096])
    func `endless records in the handshake fail their request, and hold up no other`(inARecord count: Int) async throws
    {
        try await withServer(Self.hellos(count)) { flood in
            let server = try ScriptedServer(.ok("well"))
            defer { server.stop() }
            let dispatcher = CurlNetworkDispatcher()
            let url = "https://127.0.0.1:\(flood.port)/"
            async let failure = expectFailure(.tlsFailed) { try await OptionExchange(url, over: dispatcher) }
            for _ in 0..<8 {
                #expect(try await OptionExchange(server.url(), over: dispatcher).text == "well")
            }
            let error = await failure
            #expect(error?.phase == .connecting)
            #expect(error?.message.contains("TLS records without data") == true)
            // The loop's thread is free to shut down.
            await dispatcher.shutDown(within: .zero)
        }
    }

    @Test func `endless records from a proxy fail the request too`() async throws {
        let flood = try ScriptedServer(Self.hellos(1))
        defer { flood.stop() }
        let dispatcher = CurlNetworkDispatcher()
        let error = await expectFailure(.tlsFailed) {
            try await OptionExchange("http://a.test/", over: dispatcher) {
                $0.proxy = .explicit(TransportOptions.Proxy.Server("https://127.0.0.1:\(flood.port)"))
            }
        }
        #expect(error?.message.contains("TLS records without data") == true)
        await dispatcher.shutDown(within: .zero)
    }

    @Test(.enabled(if: looksUpOverHTTPS))
    func `endless records from a resolver over HTTPS fail the request too`() async throws {
        let flood = try ScriptedServer(Self.hellos(1))
        defer { flood.stop() }
        let dispatcher = CurlNetworkDispatcher()
        let url = "https://127.0.0.1:\(flood.port)/dns-query"
        await expectFailure(.nameNotResolved) {
            try await OptionExchange("http://a.test/", over: dispatcher) { $0.names.dnsOverHTTPS = url }
        }
        await dispatcher.shutDown(within: .zero)
    }

    @Test func `records are counted, and data buys no more of them`() {
        var (count, records) = (UInt(0), 0)
        while count <= TLSGuard.maximum {
            count = TLSGuard.count(count, hasData: false)
            // As many empty data records as OpenSSL accepts in a row; it may report each of them twice.
            for _ in 0..<64 { count = TLSGuard.count(count, hasData: true) }
            records += 1
        }
        #expect((500...1_050).contains(records))
        for _ in 0..<200_000 { count = TLSGuard.count(count, hasData: true) }
        #expect(count == 0)
    }
}
