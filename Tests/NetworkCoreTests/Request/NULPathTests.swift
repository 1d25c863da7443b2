import Foundation
import TestSupport
import Testing

@testable import NetworkCore

/// The system reads a path only up to its NUL: `key\0.jpg` would be `key`.
@Suite("A path with NUL is refused")
struct NULPathTests {
    private struct Way: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let code: NetworkError.Code
        let take: @Sendable (String) async throws -> Void

        init(_ words: String, _ code: NetworkError.Code, _ take: @escaping @Sendable (String) async throws -> Void) {
            (testDescription, self.code, self.take) = (words, code, take)
        }
    }

    private static func options(_ change: (inout TransportOptions) -> Void) throws {
        var options = TransportOptions()
        change(&options)
        try options.check()
    }

    /// All ways in which a caller passes a path.
    private static let ways: [Way] = [
        Way("body", .unreadableFile) { _ = try TransportRequest.Body.file($0) },
        Way("part of a form", .unreadableFile) { path in
            let part = MultipartPart.file("a", path: path, fileName: "a")
            _ = try RequestContent.multipart([part], boundary: { "x" }).encoded()
        },
        Way("cookies to load", .unreadableFile) { try CookieJar(publicSuffixes: .builtIn).load($0) },
        Way("cookies to save", .unwritableFile) { try CookieJar(publicSuffixes: .builtIn).save(to: $0) },
        Way("download", .unwritableFile) { path in
            let transport = AnsweringTransport(.init(fields: [.eTag: "\"v\""], body: "bytes"))
            _ = try await NetworkClient(transport: transport).send(RequestData(path: "http://a/"), as: .file(path))
        },
        Way("download that breaks", .unwritableFile) { path in
            let transport = AnsweringTransport { _ in throw NetworkError(.connectionLost, "lost", phase: .receiving) }
            var options = DownloadedFile.Options()
            options.maximumRetries = 0
            let request = RequestData(path: "http://a/")
            _ = try await NetworkClient(transport: transport).send(request, as: .file(path, options: options))
        },
        Way("authorities", .invalidOption) { path in try options { $0.tls.authorities = .file(path) } },
        Way("folder of authorities", .invalidOption) { path in try options { $0.tls.authorities = .directory(path) } },
        Way("certificate", .invalidOption) { path in try options { $0.tls.clientCertificate = .init(.file(path)) } },
        Way("key", .invalidOption) { path in
            try options { $0.tls.clientCertificate = .init(.file("a"), key: .file(path)) }
        },
        Way("proxy's authorities", .invalidOption) { path in
            var proxy = TransportOptions.Proxy.Server("https://a:1")
            proxy.authorities = .file(path)
            try proxy.check()
        },
        Way("socket", .invalidOption) { path in try options { $0.connection.unixSocket = .path(path) } },
    ]

    @Test(arguments: ways) private func `each way in refuses a NUL`(way: Way) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "nul-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try "# Netscape HTTP Cookie File\n".write(toFile: folder + "/secret", atomically: true, encoding: .utf8)
        for name in ["/secret\0.jpg", "/new\0", "/\0secret"] {
            let error = await expectFailure(way.code) { try await way.take(folder + name) }
            #expect(error.map { !"\($0)".utf8.contains(0) } == true)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["secret"])
        #expect(try String(contentsOfFile: folder + "/secret", encoding: .utf8) == "# Netscape HTTP Cookie File\n")
    }
}
