import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

@Suite("Decisions by libcurl version")
struct LibcurlSupportTests {
    private func support(_ version: LibcurlVersion, features: Set<String> = ["HTTP2", "SSL"]) -> LibcurlSupport {
        LibcurlSupport(
            version: version,
            tlsLibrary: "OpenSSL/3",
            features: features,
            protocols: ["http", "https"],
            defaultCAFile: nil,
            initialisation: 0
        )
    }

    @Test(arguments: [
        (LibcurlVersion(7, 74), false), (LibcurlVersion(7, 88, 1), false), (LibcurlVersion(8, 5), false),
        (LibcurlVersion(8, 13), false), (LibcurlVersion(8, 14), true), (LibcurlVersion(8, 23), true),
    ])
    func `HTTP/2 is negotiated unasked only where no fault is left`(version: LibcurlVersion, isDefault: Bool) {
        #expect(support(version).http2ByDefault == isDefault)
        #expect(!support(version, features: []).http2ByDefault)
    }

    /// Regression: libcurl's default of 300 s ended connections that had a longer timeout, or none.
    @Test func `libcurl has a connect timeout longer than the request's`() throws {
        func milliseconds(_ timeout: Duration?, needsEnd: Bool = false) -> Int? {
            ConnectTimeoutOption(timeout: timeout, needsEnd: needsEnd).milliseconds
        }
        #expect(milliseconds(nil) == Int(Int32.max))
        #expect(milliseconds(.seconds(10)) == 13_000 && milliseconds(.seconds(1_000)) == 1_250_500)
        // Or a connection to a resolver whose request is over could stay open.
        #expect(milliseconds(nil, needsEnd: true) == nil)
    }

    @Test func `features and faults follow the version`() {
        #expect(!support(LibcurlVersion(8, 6)).sharesReceiveBuffer && support(LibcurlVersion(8, 7)).sharesReceiveBuffer)
        let keeping = [LibcurlVersion(7, 88, 1), LibcurlVersion(8, 1), LibcurlVersion(8, 23), LibcurlVersion(9, 0)]
            .map { support($0).keepsHandles }
        #expect(keeping == [false, true, true, false])
        #expect(support(LibcurlVersion(8, 0, 1)).suffers(from: .http2BodiesMix))
        #expect(!support(LibcurlVersion(8, 1)).suffers(from: .http2BodiesMix))
        let bursts = [LibcurlVersion(7, 87), LibcurlVersion(7, 88, 1), LibcurlVersion(8, 2)]
            .map { support($0).suffers(from: .limitedReceivingBursts) }
        #expect(bursts == [false, true, false])
    }

    @Test func `the receive buffer is large where it is shared or few transfers run`() {
        for (running, buffer) in [(1, 512), (16, 512), (17, 256), (64, 256), (65, 16), (10_000, 16)] {
            #expect(support(LibcurlVersion(8, 6)).receiveBufferBytes(running: running) == buffer * 1024)
        }
        #expect(support(LibcurlVersion(8, 7)).receiveBufferBytes(running: 10_000) == 256 * 1024)
    }

    @Test func `the receive buffer is small where a limited transfer would take too much at once`() {
        let bursts = support(LibcurlVersion(7, 88, 1))
        for (rate, buffer) in [(nil, 16_384), (1, 1_024), (200_000, 1_024), (1_000_000, 2_500), (1 << 40, 16_384)] {
            #expect(bursts.receiveBufferBytes(rate: rate) == buffer)
        }
        for version in [LibcurlVersion(7, 87), LibcurlVersion(8, 2)] {
            for (rate, buffer) in [(nil, 16_384), (1, 1_024), (2_000, 2_000), (200_000, 16_384)] {
                #expect(support(version).receiveBufferBytes(rate: rate) == buffer)
            }
        }
    }

    @Test func `the buffer for sending is large for large bodies, while few are sent`() {
        let found = support(LibcurlVersion(7, 88, 1))
        for (running, body, isLarge) in [(16, nil, true), (16, 65_537, true), (16, 65_536, false), (17, nil, false)] {
            #expect(found.uploadBufferBytes(running: running, body: body) == (isLarge ? 1 << 20 : 1 << 16))
        }
        #expect(support(LibcurlVersion(8, 7)).uploadBufferBytes(running: 1, body: nil) == 1 << 16)
    }

    @Test func `HTTP/1 is certain where nothing else was asked for`() {
        let (old, new) = (support(LibcurlVersion(7, 88, 1)), support(LibcurlVersion(8, 14)))
        #expect(old.speaksHTTP1(.automatic, isSecure: true) && new.speaksHTTP1(.automatic, isSecure: false))
        #expect(!new.speaksHTTP1(.automatic, isSecure: true) && new.speaksHTTP1(.http1_1, isSecure: true))
        #expect(!new.speaksHTTP1(.http2, isSecure: true) && new.speaksHTTP1(.http2, isSecure: false))
        #expect(!new.speaksHTTP1(.http2PriorKnowledge, isSecure: false))
    }

    private static let secondVersions: [TransportOptions.HTTPVersion] = [.http2, .http2PriorKnowledge, .http3]

    @Test(arguments: secondVersions, ["http", "https"])
    func `HTTP/2 is refused where its bodies mix, and the error says why`(
        asked: TransportOptions.HTTPVersion, scheme: String
    ) throws {
        var request = TransportRequest(url: try RequestURL("\(scheme)://localhost/"))
        request.options.httpVersion = asked
        let features: Set = ["HTTP2", "HTTP3", "SSL"]
        for version in [LibcurlVersion(7, 74), LibcurlVersion(7, 88, 1), LibcurlVersion(8, 0, 1)] {
            let error = #expect(throws: NetworkError.self) {
                try request.check(for: TransportCapabilities(curl: support(version, features: features)))
            }
            #expect(error?.code == .unsupported && error?.phase == .preparing)
            #expect(error?.message.contains("from libcurl 8.1.0: older ones mix up the bodies") == true)
        }
        try request.check(for: TransportCapabilities(curl: support(LibcurlVersion(8, 1), features: features)))
    }

    @Test(
        .enabled(if: Libcurl.found.suffers(from: .http2BodiesMix), "the libcurl found keeps HTTP/2 bodies apart"),
        arguments: secondVersions)
    func `where the libcurl found mixes bodies, no request asks it for HTTP/2`(asked: TransportOptions.HTTPVersion)
        async throws
    {
        let server = try ScriptedServer(.ok("never"))
        defer { server.stop() }
        let dispatcher = CurlNetworkDispatcher()
        await expectFailure(.unsupported) {
            try await OptionExchange(server.url(), over: dispatcher) { $0.httpVersion = asked }
        }
        var options = TransportOptions()
        options.httpVersion = asked
        let ahead = options
        await expectFailure(.unsupported) { try await dispatcher.prewarm(RequestURL(server.url()), options: ahead) }
        #expect(server.connectionCount == 0)
        await dispatcher.shutDown(within: .zero)
    }

    @Test func `a libcurl built without HTTP/2 refuses it, and the error says why`() throws {
        let capabilities = TransportCapabilities(curl: support(LibcurlVersion(8, 14), features: ["SSL"]))
        var request = TransportRequest(url: try RequestURL("http://localhost/"))
        request.options.httpVersion = .http2
        #expect {
            try request.check(for: capabilities)
        } throws: { error in
            let error = error as? NetworkError
            return error?.code == .unsupported && error?.message.contains("built without it") == true
        }
    }

    @Test func `HTTP/3 is there where the library found has it`() throws {
        for (features, isThere) in [(["SSL", "HTTP2", "HTTP3"] as Set, true), (["SSL", "HTTP2"], false)] {
            let capabilities = TransportCapabilities(curl: support(LibcurlVersion(8, 14), features: features))
            #expect(capabilities.supports(.http3) == isThere)
            var request = TransportRequest(url: try RequestURL("https://localhost/"))
            request.options.httpVersion = .http3
            if isThere {
                try request.check(for: capabilities)
            } else {
                #expect { try request.check(for: capabilities) } throws: {
                    ($0 as? NetworkError)?.code == .unsupported
                }
            }
        }
    }

    @Test func `the libcurl here is initialised and speaks HTTP`() {
        #expect(Libcurl.found.initialisation == 0)
        #expect(Libcurl.found.version >= LibcurlVersion(7, 74))
        #expect(Libcurl.found.protocols.contains("http"))
        #expect(Libcurl.found.features.contains("SSL"))
    }
}
