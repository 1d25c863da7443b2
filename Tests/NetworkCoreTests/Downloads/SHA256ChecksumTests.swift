import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

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
