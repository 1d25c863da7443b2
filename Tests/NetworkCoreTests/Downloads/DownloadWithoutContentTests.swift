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

struct SHA256ChecksumTests {
    private func sum(_ pieces: [Data]) -> String {
        var checksum = SHA256Checksum()
        for piece in pieces { checksum.update(piece) }
        return checksum.finish().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The examples of FIPS 180-4, and lengths around the padding's limit with the results of `sha256sum`.
    @Test(
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (String(repeating: "a", count: 55), "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"),
            (String(repeating: "a", count: 56), "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"),
            (String(repeating: "a", count: 64), "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"),
            (String(repeating: "a", count: 119), "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"),
        ]
    )
    func `examples have their sum`(text: String, expected: String) {
        #expect(sum([Data(text.utf8)]) == expected)
        #expect(sum(text.utf8.map { Data([$0]) }) == expected, "byte by byte")
    }

    @Test func `a large input has its sum`() {
        let piece = Data(repeating: UInt8(ascii: "a"), count: 10_000)
        let million = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        #expect(sum(Array(repeating: piece, count: 100)) == million)
    }

    @Test(arguments: ["", "12", "xyz", String(repeating: "g", count: 64), String(repeating: "0", count: 63)])
    func `a text that is no sum is refused before sending`(text: String) async {
        var options = DownloadedFile.Options()
        options.checksum = .sha256(text)
        let client = NetworkClient(transport: StubTransport(always: .text("")))
        await expectFailure(.invalidOption) {
            try await client.send(RequestData(path: "http://127.0.0.1/"), as: .file("/nowhere/x", options: options))
        }
    }
}
