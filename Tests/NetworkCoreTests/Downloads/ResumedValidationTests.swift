import Foundation
import NetworkCore
import NetworkTesting
import Synchronization
import TestSupport
import Testing

/// Checks that the client's validation applies to the rest of a download as to its start.
@Suite(.patience(minutes: 1))
struct ResumedValidationTests {
    private static let type = "application/octet-stream"
    private let request = RequestData(path: "http://h/f")

    /// Performs a download that is cut after five bytes, with the given responses to the requests for the rest.
    private func download(
        to path: String, judging validation: ResponseValidation, first: HTTPFields = [.contentType: type],
        cutAt total: Int = 10, then rest: StubResponse...
    ) async throws -> NetworkResponse<DownloadedFile> {
        let stub = StubTransport()
        var fields = first
        fields[.eTag] = "\"v\""
        fields[.contentLength] = "\(total)"
        let cut = NetworkError(.truncatedBody, "cut")
        stub.when(.any, .chunks([Data("01234".utf8)], headerFields: fields, thenFailing: cut))
        for answer in rest { stub.when(.any, answer) }
        var client = NetworkClient(transport: stub)
        client.validation = validation
        var options = DownloadedFile.Options()
        options.time.sleep = { _ in }
        let response = try await client.send(request, as: .file(path, options: options))
        try stub.checkAllUsed()
        return response
    }

    private func rest(_ more: HTTPFields = [:]) -> StubResponse {
        var fields: HTTPFields = [.contentRange: "bytes 5-9/10", .eTag: "\"v\"", .contentLength: "5"]
        for field in more { fields.append(field) }
        return .text("56789", status: 206, headerFields: fields)
    }

    private func nothingMore(_ more: HTTPFields = [:]) -> StubResponse {
        var fields: HTTPFields = [.contentRange: "bytes */5", .contentType: "text/html"]
        for field in more { fields.append(field) }
        return .text("<html>no</html>", status: 416, headerFields: fields)
    }

    /// Regression: a redirect that led elsewhere at the second exchange made one file of two.
    @Test func `a redirect to another file begins the download again`() async throws {
        try await withFolder { folder in
            let stub = StubTransport()
            let cut = NetworkError(.truncatedBody, "cut")
            stub.when(
                .get("/f"), .status(302, headerFields: [.location: "/one"]),
                .status(302, headerFields: [.location: "/two"]))
            stub.when(.get("/f"), .status(302, headerFields: [.location: "/two"]))
            let start: HTTPFields = [.eTag: "\"1\"", .contentLength: "10"]
            stub.when(.get("/one"), .chunks([Data("AAAAA".utf8)], headerFields: start, thenFailing: cut))
            let part: HTTPFields = [.contentRange: "bytes 5-9/10", .eTag: "\"1\""]
            stub.when(
                .get("/two"), .text("BBBBB", status: 206, headerFields: part), .text("BBBBBBBBBB", headerFields: start))
            var options = DownloadedFile.Options()
            options.time.sleep = { _ in }
            let client = NetworkClient(transport: stub)
            let response = try await client.send(request, as: .file(folder + "/file", options: options))
            #expect(response.body.resumedFrom == 0)
            #expect(try String(contentsOfFile: folder + "/file", encoding: .utf8) == "BBBBBBBBBB")
            try stub.checkAllUsed()
        }
    }

    /// The 206 response stands for the 200 response of the whole file.
    @Test func `the rest of a file is judged as the whole`() async throws {
        try await withFolder { folder in
            let path = folder + "/file"
            let rule = ResponseValidation.statuses(200...200).and(.contentTypes(Self.type))
            for more in [[.contentType: Self.type], [:]] as [HTTPFields] {
                let response = try await download(to: path, judging: rule, then: rest(more))
                #expect(response.status == .partialContent)
                #expect(try String(contentsOfFile: path, encoding: .utf8) == "0123456789")
                try FileManager.default.removeItem(atPath: path)
            }
        }
    }

    @Test func `the rest of another type is refused`() async throws {
        try await withFolder { folder in
            let error = await expectFailure(.unacceptableContentType) {
                try await download(
                    to: folder + "/file", judging: .contentTypes(Self.type), then: rest([.contentType: "text/html"]))
            }
            #expect(error?.response?.status == .partialContent)
            #expect(error?.response?.body == Data("56789".utf8))
            // The partial file contains nothing of the refused response.
            let part = try String(contentsOfFile: folder + "/file.partial", encoding: .utf8)
            #expect(part == "01234")
            #expect(!FileManager.default.fileExists(atPath: folder + "/file"))
        }
    }

    @Test func `a custom rule sees the whole that the part stands for`() async throws {
        try await withFolder { folder in
            let heads = Guarded<[HTTPResponse]>([])
            let rule = ResponseValidation.custom { head in heads.withLock { $0.append(head) } }
            let path = folder + "/file"
            _ = try await download(to: path, judging: rule, then: rest([.server: "s"]))
            _ = try await download(to: path, judging: rule, cutAt: 5, then: nothingMore([.server: "s"]))
            let seen = heads.withLock { $0 }
            #expect(seen.map(\.status) == [.ok, .ok, .ok, .ok])
            #expect(seen.map { $0.headerFields[.contentType] } == Array(repeating: Self.type, count: 4))
            #expect(seen.map { $0.headerFields[.contentLength] } == ["10", "10", "5", "5"])
            #expect(seen.map { $0.headerFields[.server] } == [nil, "s", nil, "s"])
            #expect(seen.allSatisfy { !$0.headerFields.contains(.contentRange) })
        }
    }

    /// The file is complete, and the page of the 416 response is no part of it.
    @Test func `a download with nothing missing is a success, whatever the status and its page`() async throws {
        try await withFolder { folder in
            let path = folder + "/file"
            let rule = ResponseValidation.statuses(200...200).and(.contentTypes(Self.type))
            let response = try await download(to: path, judging: rule, cutAt: 5, then: nothingMore())
            #expect(response.status == .rangeNotSatisfiable)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "01234")
        }
    }

    @Test func `a rule that refuses the end is heard`() async throws {
        try await withFolder { folder in
            let rule = ResponseValidation.custom { head in
                if head.headerFields[.server] == "wrong" { throw NetworkError(.invalidResponse, "the wrong server") }
            }
            await expectFailure(.invalidResponse) {
                try await download(
                    to: folder + "/a", judging: rule, cutAt: 5, then: nothingMore([.server: "wrong"]))
            }
            await expectFailure(.invalidResponse) {
                try await download(to: folder + "/b", judging: rule, then: rest([.server: "wrong"]))
            }
            #expect(!FileManager.default.fileExists(atPath: folder + "/a"))
            #expect(!FileManager.default.fileExists(atPath: folder + "/b"))
        }
    }

    /// Regression: parts of two versions were combined without an error.
    @Test func `a part without the tag is no part of the same`() async throws {
        try await withFolder { folder in
            let path = folder + "/file"
            let other: HTTPFields = [.contentRange: "bytes 5-9/10", .lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"]
            let response = try await download(
                to: path, judging: .successful, then: .text("fghij", status: 206, headerFields: other),
                .text("abcdefghij", headerFields: [.eTag: "\"v2\""]))
            #expect(response.body.resumedFrom == 0)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "abcdefghij")
        }
    }
}

/// Calls `body` with a temporary folder, and removes the folder afterwards.
func withFolder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: "networklayer-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try await body(folder)
}
