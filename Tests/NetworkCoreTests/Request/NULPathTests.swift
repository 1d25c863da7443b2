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

/// A process that has no descriptor left for a moment. Each test is a process of its own.
@Suite(.patience(minutes: 1))
struct ShortDescriptorsTests {
    static func exhaust() -> [Int32] {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(7), &limit)
        limit.rlim_cur = 256
        setrlimit(__rlimit_resource_t(7), &limit)
        var taken: [Int32] = []
        // Again and again: the runtime's threads give descriptors back in the first moments of a process.
        for _ in 0..<2_000 {
            while true {
                let descriptor = open("/dev/null", O_RDONLY)
                guard descriptor >= 0 else { break }
                taken.append(descriptor)
            }
            sched_yield()
        }
        return taken
    }

    /// Regression: the partial file stayed open and locked, and every later download to the path was refused.
    @Test func `a new download that can't have its record leaves nothing behind`() async {
        await #expect(processExitsWith: .success) {
            try withFolder { folder in
                var taken: [Int32] = []
                var failure: NetworkError?
                // Again where a thread of the runtime has given a descriptor back meanwhile.
                for _ in 0..<100 where failure == nil {
                    taken += ShortDescriptorsTests.exhaust()
                    // One descriptor for the record, and none for the file.
                    close(taken.removeLast())
                    do throws(NetworkError) {
                        let file = try PartialFile(for: folder + "/a")
                        try file.delete()
                    } catch {
                        failure = error
                    }
                }
                #expect(failure?.code == .unwritableFile && failure?.underlying?.code == Int(EMFILE))
                for descriptor in taken { close(descriptor) }
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
                let file = try PartialFile(for: folder + "/a")
                try file.delete()
            }
        }
    }

    /// Regression: a record that could not be opened counted as another file, and the bytes were deleted.
    @Test func `an interrupted download keeps its bytes`() async {
        await #expect(processExitsWith: .success) {
            try withFolder { folder in
                var file = try PartialFile(for: folder + "/a")
                let record = PartialRecord(url: "http://127.0.0.1/", validator: "\"v1\"", total: 6)
                try file.restart(as: record)
                try file.append(Data("abc".utf8))
                var taken = ShortDescriptorsTests.exhaust()
                try file.giveUp(isUsable: true)
                close(taken.removeLast())
                // One descriptor for the record, and none for the file.
                while true {
                    let descriptor = open("/dev/null", O_RDONLY)
                    guard descriptor >= 0 else { break }
                    taken.append(descriptor)
                }
                close(taken.removeLast())
                let error = expectFailure(.unwritableFile) { try PartialFile(for: folder + "/a") }
                #expect(error?.underlying?.code == Int(EMFILE), "\(error as Any)")
                for descriptor in taken { close(descriptor) }
                file = try PartialFile(for: folder + "/a")
                #expect(file.length == 3)
                #expect(file.record == record)
                try file.delete()
            }
        }
    }
}
