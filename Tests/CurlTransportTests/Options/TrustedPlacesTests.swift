import FoundationEssentials
import NetworkCore
import Testing

@testable import CurlTransport

@Suite("Places of trusted authorities")
struct TrustedPlacesTests {
    private func support(_ version: LibcurlVersion, hasOwn: Bool = true) -> LibcurlSupport {
        LibcurlSupport(
            version: version, tlsLibrary: "OpenSSL/3", features: ["SSL"], protocols: ["https"],
            defaultCAFile: hasOwn ? "/own.pem" : nil, defaultCADirectory: hasOwn ? "/own" : nil, initialisation: 0)
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
        let support = support(version)
        let file = try #require(try TrustedPlaces(.file("/f"), looksUpOverHTTPS: looksUp, support: support))
        #expect(file.file == "/f" && file.directory == directory && file.bytes == nil)
        let bytes = try #require(try TrustedPlaces(.bytes(Data([1])), looksUpOverHTTPS: looksUp, support: support))
        #expect(bytes.file == nil && bytes.directory == directory && bytes.bytes == Data([1]))
        #expect(try TrustedPlaces(.system, looksUpOverHTTPS: looksUp, support: support) == nil)
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
            let places = try TrustedPlaces(.directory("/d"), looksUpOverHTTPS: looksUp, support: support(version))
            #expect(places?.directory == "/d" && places?.file == nil)
        } else {
            let error = #expect(throws: NetworkError.self) {
                try TrustedPlaces(.directory("/d"), looksUpOverHTTPS: looksUp, support: support(version))
            }
            #expect(error?.code == .unsupported)
        }
        // A libcurl that has no authorities of its own has nothing to bring back.
        let bare = support(version, hasOwn: false)
        #expect(try TrustedPlaces(.directory("/d"), looksUpOverHTTPS: looksUp, support: bare)?.directory == "/d")
        #expect(try TrustedPlaces(.file("/f"), looksUpOverHTTPS: looksUp, support: bare)?.directory == nil)
    }
}
