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
    private let dispatcher = CurlNetworkDispatcher()

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
            try await withServer(.ok("well")) { server async throws in
                let url = "https://127.0.0.1:\(flood.port)/"
                async let failure = expectFailure(.tlsFailed, in: .connecting) {
                    try await Exchange(url, over: dispatcher)
                }
                for _ in 0..<8 { #expect(try await Exchange(server.url(), over: dispatcher).text == "well") }
                #expect(await failure?.message.contains("TLS records without data") == true)
                // The loop's thread is free to shut down.
                await dispatcher.shutDown(within: .zero)
            }
        }
    }

    @Test func `endless records from a proxy fail the request too`() async throws {
        try await withServer(Self.hellos(1)) { flood in
            let error = await expectFailure(.tlsFailed) {
                try await Exchange("http://a.test/", over: dispatcher) {
                    $0.proxy = .server("https://127.0.0.1:\(flood.port)")
                }
            }
            #expect(error?.message.contains("TLS records without data") == true)
        }
    }

    @Test(.enabled(if: looksUpOverHTTPS))
    func `endless records from a resolver over HTTPS fail the request too`() async throws {
        try await withServer(Self.hellos(1)) { flood in
            _ = await expectFailure(.nameNotResolved) {
                try await Exchange("http://a.test/", over: dispatcher) { $0.lookUp(at: flood) }
            }
        }
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
