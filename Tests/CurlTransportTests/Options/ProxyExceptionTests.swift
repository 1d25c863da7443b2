import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

@Suite("Exceptions from the proxy", .patience(minutes: 1))
struct ProxyExceptionTests {
    /// The exceptions, the URL's host, and whether they name it.
    private static let exceptions: [([String], String, Bool)] = [
        ([], "localhost", false), (["localhost"], "localhost", true), (["LocalHost"], "localHOST", true),
        (["localhost"], "a.localhost", true), ([".localhost"], "a.localhost", true),
        ([".localhost"], "localhost", true), (["host"], "localhost", false), (["a.localhost"], "localhost", false),
        (["b.test", "localhost"], "localhost", true), (["*"], "localhost", true),
        (["localhost."], "localhost", true), (["127.0.0.1"], "localhost", false), (["127.0.0.1"], "127.0.0.1", true),
        (["127.0.0.2"], "127.0.0.1", false), (["0.0.1"], "127.0.0.1", false), (["127.0.0.0/8"], "127.0.0.1", true),
        (["128.0.0.0/8"], "127.0.0.1", false), (["*"], "127.0.0.1", true),
    ]

    /// With a server name, the library decides.
    @Test(arguments: exceptions)
    func `exceptions from the proxy are read as libcurl reads them`(
        list: [String], host: String, isNamed: Bool
    ) async throws {
        #expect(ProxyExceptions(list.joined(separator: ",")).contains(host) == isNamed)
        // The version from which libcurl knows ranges.
        guard Libcurl.found.version >= LibcurlVersion(7, 86) else { return }
        try await withServer(.ok("straight")) { server in
            try await withServer(.ok("by proxy")) { proxy in
                let exchange = try await Exchange("http://\(host):\(server.port)/") {
                    $0.proxy = .server(proxy.baseURL) { $0.noProxy = list }
                }
                #expect(exchange.text == (isNamed ? "straight" : "by proxy"))
            }
        }
    }

    @Test(arguments: [
        ("::1", "[::1]", true), ("[::1]", "[::1]", true), ("::2", "[::1]", false), ("::/64", "[::1]", true),
        ("b.test a.test", "a.test", true), ("b.test,\ta.test", "a.test", true), (",", "a.test", false),
        ("*,b.test", "a.test", true), ("b.test *", "[::1]", true), ("*.test", "a.test", false),
        ("::1/128", "[::1]", true), ("0:0:0:0:0:0:0:1", "[::1]", true), ("::1", "[0:0:0:0:0:0:0:1]", true),
        ("fe80::/10, ::1/64", "[::1]", true), ("fe80::/10", "[::1]", false),
        ("/8", "127.0.0.1", false), ("127.0.0.1/33", "127.0.0.1", false),
    ])
    func `a list of exceptions has addresses, ranges and blanks`(list: String, host: String, isNamed: Bool) {
        #expect(ProxyExceptions(list).contains(host) == isNamed)
    }

    /// Regression: libcurl knows `*` as the whole list alone, so that the request and its credentials went to the
    /// proxy.
    @Test(arguments: [["*", "b.test"], ["b.test", "*"]])
    func `an asterisk matches every host wherever it stands`(list: [String]) async throws {
        try await withServer(.ok("straight")) { server in
            let exchange = try await Exchange("http://localhost:\(server.port)/") {
                $0.proxy = .server("http://127.0.0.1:1") { $0.noProxy = list }
            }
            #expect(exchange.text == "straight")
        }
    }

    /// Regression: libcurl compared the host, each version in its own way, and none knew brackets. The request and its
    /// credentials went to the proxy.
    @Test(arguments: ["[::1]", "::1/128", "::/64", "0:0:0:0:0:0:0:1", "b.test, ::1"])
    func `exceptions are the same over each libcurl`(list: String) async throws {
        // Nothing listens at the server's port: the connection itself fails, and not the proxy's.
        try await withServer(.ok("by proxy")) { proxy in
            await expectFailure(.connectFailed) {
                try await Exchange("http://[::1]:1/") {
                    $0.proxy = .server(proxy.baseURL) {
                        $0.noProxy = list.split { ", ".contains($0) }.map(String.init)
                    }
                }
            }
            #expect(proxy.connectionCount == 0)
        }
        await #expect(processExitsWith: .success) { [list] in
            let proxy = try ScriptedServer(.ok("by proxy"))
            setenv("http_proxy", proxy.baseURL, 1)
            setenv("no_proxy", list, 1)
            // With an option that is rarely set, too.
            for minimum in [nil, TransportOptions.TLS.Version.tls1_3] {
                await expectFailure(.connectFailed) {
                    try await Exchange("http://[::1]:1/") { if let minimum { $0.tls.minimumVersion = minimum } }
                }
            }
            #expect(proxy.connectionCount == 0)
            #expect(try await Exchange("http://other.invalid/").text == "by proxy")
        }
    }

    /// Regression: libcurl compared the server name, which is the host of the URL that it gets.
    @Test(arguments: [(["127.0.0.1"], true), (["direct.test"], false), (["127.0.0.0/8"], true), ([], false)])
    func `exceptions from the proxy are for the URL's host, whatever the server name`(
        list: [String], isException: Bool
    ) async throws {
        try await withServer([.read, .close]) { server in
            try await withServer(.response(403)) { proxy in
                await #expect(throws: NetworkError.self) {
                    try await Exchange("https://127.0.0.1:\(server.port)/") {
                        $0.tls.serverName = "direct.test"
                        $0.proxy = .server(proxy.baseURL) { $0.noProxy = list }
                    }
                }
                #expect(server.connectionCount == (isException ? 1 : 0))
                #expect(proxy.connectionCount == (isException ? 0 : 1))
            }
        }
    }
}
