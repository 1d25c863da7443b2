import NetworkCore
import Testing

@testable import CurlTransport

@Suite("What a libcurl version decides")
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
    func http2IsNegotiatedUnasked_OnlyWhereNoFaultIsLeft(version: LibcurlVersion, isDefault: Bool) {
        #expect(support(version).http2ByDefault == isDefault)
        #expect(!support(version, features: []).http2ByDefault)
    }

    @Test func featuresAndFaultsFollowTheVersion() {
        #expect(!support(LibcurlVersion(7, 74)).has(.quickExit))
        #expect(support(LibcurlVersion(7, 87)).has(.quickExit))
        #expect(!support(LibcurlVersion(7, 84)).has(.protocolStrings))
        #expect(support(LibcurlVersion(7, 88, 1)).suffers(from: .http2TruncationIsSuccess))
        #expect(!support(LibcurlVersion(8, 0)).suffers(from: .http2TruncationIsSuccess))
    }

    @Test func theReceiveBufferIsLargeWhereItIsSharedOrFewTransfersRun() {
        #expect(support(LibcurlVersion(8, 6)).receiveBufferBytes(running: 1) == 256 * 1024)
        #expect(support(LibcurlVersion(8, 6)).receiveBufferBytes(running: 10_000) == 16 * 1024)
        #expect(support(LibcurlVersion(8, 7)).receiveBufferBytes(running: 10_000) == 256 * 1024)
    }

    @Test func whatWasBuiltWithoutHTTP2RefusesIt_AndSaysWhy() throws {
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

    @Test func theLibcurlHereIsInitialisedAndSpeaksHTTP() {
        #expect(Libcurl.found.initialisation == 0)
        #expect(Libcurl.found.version >= LibcurlVersion(7, 74))
        #expect(Libcurl.found.protocols.contains("http"))
        #expect(Libcurl.found.features.contains("SSL"))
    }
}
