import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

/// Checks that a response without content never replaces a file.
@Suite(.patience(minutes: 1))
struct DownloadWithoutContentTests {
    private func withPreciousFile(_ body: (String) async throws -> Void) async throws {
        try await withFolder { folder in
            let path = folder + "/file"
            try "precious".write(toFile: path, atomically: true, encoding: .utf8)
            try await body(path)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["file"])
        }
    }

    @Test func `HEAD is refused before anything is sent`() async throws {
        try await withPreciousFile { path in
            let stub = StubTransport(always: .status(200, headerFields: [.contentLength: "100", .eTag: "\"x\""]))
            let error = await expectFailure(.unsupported) {
                try await NetworkClient(transport: stub).send(
                    RequestData(path: "http://h/f", method: .head), as: .file(path))
            }
            #expect(error?.message.contains("HEAD") == true)
            #expect(stub.sent.isEmpty)
        }
    }

    @Test(arguments: [204, 205, 304]) func `a status without content is no data`(status: Int) async throws {
        try await withPreciousFile { path in
            let stub = StubTransport(always: .status(status, headerFields: [.eTag: "\"x\""]))
            var client = NetworkClient(transport: stub)
            client.validation = .any
            for method in [HTTPRequest.Method.get, .post] {
                let error = await expectFailure(.noData) {
                    try await client.send(RequestData(path: "http://h/f", method: method), as: .file(path))
                }
                #expect(error?.response?.status.code == status)
                #expect(error?.exchange?.url == "http://h/f")
            }
        }
    }

    /// A refused status is reported as such, and not as missing data.
    @Test func `a refused status is that error`() async throws {
        try await withPreciousFile { path in
            let stub = StubTransport(always: .status(304))
            await expectFailure(.unacceptableStatus) {
                try await NetworkClient(transport: stub).send(RequestData(path: "http://h/f"), as: .file(path))
            }
        }
    }

    /// A file may be empty.
    @Test func `empty content is a file`() async throws {
        try await withFolder { folder in
            let stub = StubTransport(always: .status(200, headerFields: [.contentLength: "0"]))
            let file = try await NetworkClient(transport: stub).send(
                RequestData(path: "http://h/f"), as: .file(folder + "/file")
            ).body
            #expect(file.bytes == 0)
            #expect(try Data(contentsOf: URL(filePath: folder + "/file")).isEmpty)
        }
    }
}
