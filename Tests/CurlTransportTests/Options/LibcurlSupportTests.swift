import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

@Suite("Decisions by libcurl version")
struct LibcurlSupportTests {
    private func support(
        _ version: LibcurlVersion, features: Set<String> = ["HTTP2", "SSL"], ownAuthorities: String? = nil
    ) -> LibcurlSupport {
        LibcurlSupport(
            version: version, tlsLibrary: "OpenSSL/3", features: features, protocols: ["http", "https"],
            defaultCAFile: ownAuthorities.map { $0 + ".pem" }, defaultCADirectory: ownAuthorities, initialisation: 0)
    }

    @Test(arguments: [
        (LibcurlVersion(7, 74), false), (LibcurlVersion(7, 88, 1), false), (LibcurlVersion(8, 5), false),
        (LibcurlVersion(8, 13), false), (LibcurlVersion(8, 14), true), (LibcurlVersion(8, 23), true),
    ])
    func `HTTP/2 is negotiated unasked only where no fault is left`(version: LibcurlVersion, isDefault: Bool) {
        #expect(support(version).http2ByDefault == isDefault)
        #expect(!support(version, features: []).http2ByDefault)
        let reason = support(version).obstacleToHTTP2
        let fault = version < LibcurlVersion(8, 1) ? "mixes up" : "paused"
        #expect(
            isDefault
                ? reason == nil : reason?.contains(fault) == true && reason?.contains("from libcurl 8.14.0") == true)
        #expect(support(version, features: []).obstacleToHTTP2 == "this libcurl was built without it")
    }

    /// The article has what requests speak over each version, and the fault that is the reason.
    @Test func `the article's table of versions is true`() throws {
        let package = URL(filePath: #filePath).appending(path: "../../../..").standardized
        let article = package.appending(path: "Sources/NetworkLayer/NetworkLayer.docc/HTTPVersions.md")
        let rows = try String(contentsOf: article, encoding: .utf8).split(separator: "\n")
            .map { $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
            .filter { $0.count == 4 && $0[0].contains(".") && $0[0].allSatisfy { $0.isNumber || $0 == "." } }
        #expect(rows.count >= 9)
        let quirks: [LibcurlSupport.Quirk] = [.http2BodiesMix, .http2PauseLosesData, .http2ResumeStalls]
        var known = ""
        for row in rows {
            let numbers = row[0].split(separator: ".").compactMap { Int($0) }
            let found = support(LibcurlVersion(numbers[0], numbers[1]))
            #expect(row[1] == (found.http2ByDefault ? "HTTP/2" : "HTTP/1.1"), "\(row)")
            let isRefused = found.suffers(from: .http2BodiesMix)
            #expect(row[2] == (isRefused ? "refused" : found.isPausable(.http2) ? "yes" : "no pauses"), "\(row)")
            let reason = quirks.first(where: found.suffers)?.rawValue ?? "none known"
            #expect(row[3].contains(reason) || row[3].hasPrefix("the same") && reason == known, "\(row)")
            known = reason
        }
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

    private func check(
        _ version: TransportOptions.HTTPVersion, _ scheme: String, with libcurl: LibcurlVersion, _ features: Set<String>
    ) throws {
        try makeRequest("\(scheme)://localhost/") { $0.httpVersion = version }
            .check(for: TransportCapabilities(curl: support(libcurl, features: features)))
    }

    @Test(arguments: secondVersions, ["http", "https"])
    func `HTTP/2 is refused where its bodies mix, and the error says why`(
        asked: TransportOptions.HTTPVersion, scheme: String
    ) throws {
        let features: Set = ["HTTP2", "HTTP3", "SSL"]
        for version in [LibcurlVersion(7, 74), LibcurlVersion(7, 88, 1), LibcurlVersion(8, 0, 1)] {
            let error = expectFailure(.unsupported, in: .preparing) {
                try check(asked, scheme, with: version, features)
            }
            #expect(error?.message.contains("from libcurl 8.1.0: older ones mix up the bodies") == true)
        }
        try check(asked, scheme, with: LibcurlVersion(8, 1), features)
    }

    @Test(
        .enabled(if: Libcurl.found.suffers(from: .http2BodiesMix), "the libcurl found keeps HTTP/2 bodies apart"),
        arguments: secondVersions)
    func `where the libcurl found mixes bodies, no request asks it for HTTP/2`(asked: TransportOptions.HTTPVersion)
        async throws
    {
        try await withServer(.ok("never")) { server in
            let dispatcher = CurlNetworkDispatcher()
            await expectFailure(.unsupported) {
                try await Exchange(server.url(), over: dispatcher) { $0.httpVersion = asked }
            }
            let ahead = try makeRequest(server.url()) { $0.httpVersion = asked }
            await expectFailure(.unsupported) { try await dispatcher.prewarm(ahead.url, options: ahead.options) }
            #expect(server.connectionCount == 0)
        }
    }

    @Test func `a libcurl built without a version of HTTP refuses it, and one that has it does not`() throws {
        let libcurl = LibcurlVersion(8, 14)
        let error = expectFailure(.unsupported) { try check(.http2, "http", with: libcurl, ["SSL"]) }
        #expect(error?.message.contains("built without it") == true)
        expectFailure(.unsupported) { try check(.http3, "https", with: libcurl, ["SSL", "HTTP2"]) }
        try check(.http3, "https", with: libcurl, ["SSL", "HTTP2", "HTTP3"])
    }

    @Test func `the libcurl here is initialised and speaks HTTP`() {
        #expect(Libcurl.found.initialisation == 0)
        #expect(Libcurl.found.version >= LibcurlVersion(7, 74))
        #expect(Libcurl.found.protocols.contains("http"))
        #expect(Libcurl.found.features.contains("SSL"))
    }

    // MARK: Places of trusted authorities

    private func places(
        _ authorities: TransportOptions.TLS.Authorities, _ looksUp: Bool, _ version: LibcurlVersion, hasOwn: Bool = true
    ) throws -> TrustedPlaces? {
        let support = support(version, ownAuthorities: hasOwn ? "/own" : nil)
        return try TrustedPlaces(authorities, looksUpOverHTTPS: looksUp, support: support)
    }

    private static let nowhere = "/dev/null"

    /// Regression: libcurl put its own directory back, and trusted the system's authorities besides the request's.
    @Test(arguments: [
        (LibcurlVersion(7, 88, 1), false, nil), (LibcurlVersion(7, 88, 1), true, nowhere),
        (LibcurlVersion(8, 14, 1), true, nowhere), (LibcurlVersion(8, 17), true, nil),
        (LibcurlVersion(8, 20), true, nil), (LibcurlVersion(8, 21), false, nowhere),
        (LibcurlVersion(8, 23), false, nowhere), (LibcurlVersion(8, 23), true, nowhere),
    ])
    func `a file or bytes are all that is trusted`(version: LibcurlVersion, looksUp: Bool, directory: String?) throws {
        let file = try #require(try places(.file("/f"), looksUp, version))
        #expect(file.file == "/f" && file.directory == directory && file.bytes == nil)
        let bytes = try #require(try places(.bytes(Data([1])), looksUp, version))
        #expect(bytes.file == nil && bytes.directory == directory && bytes.bytes == Data([1]))
        #expect(try places(.system, looksUp, version) == nil)
    }

    @Test(arguments: [
        (LibcurlVersion(7, 88, 1), false, true), (LibcurlVersion(7, 88, 1), true, false),
        (LibcurlVersion(8, 17), true, true), (LibcurlVersion(8, 21), false, false),
        (LibcurlVersion(8, 22), true, false), (LibcurlVersion(8, 23), true, true),
    ])
    func `a directory that would not be alone is refused`(
        version: LibcurlVersion, looksUp: Bool, isAlone: Bool
    ) throws {
        if isAlone {
            let places = try places(.directory("/d"), looksUp, version)
            #expect(places?.directory == "/d" && places?.file == nil)
        } else {
            expectFailure(.unsupported) { try places(.directory("/d"), looksUp, version) }
        }
        // A libcurl that has no authorities of its own has nothing to bring back.
        #expect(try places(.directory("/d"), looksUp, version, hasOwn: false)?.directory == "/d")
        #expect(try places(.file("/f"), looksUp, version, hasOwn: false)?.directory == nil)
    }
}
