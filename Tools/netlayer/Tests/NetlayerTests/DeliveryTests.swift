import ArgumentParser
import Foundation
import NetworkLayer
import NetworkTesting
import Testing
import ToolSupport

@testable import netlayer

@Suite(.patience(minutes: 1)) struct DeliveryTests {
    @Test(arguments: [
        ["--continue"], ["--checksum", "sha256:00"], ["--checksum", "md5:00", "-o", "x"], ["--lines", "--events"],
        ["--show-secrets"], ["--lines", "--include"], ["--curl", "--as-json"], ["--lines", "-o", "x"], ["-F", "name"],
        ["-F", "a=b", "-d", "x"], ["--lines", "-C", "-o", "x"], ["--events", "-C", "-o", "x"],
        ["--curl", "--checksum", "sha256:00", "-o", "x"], ["-F", "a=<file"], ["-F", "a=@file;type=text/plain"],
    ])
    func `options that contradict are refused`(arguments: [String]) {
        #expect(throws: (any Error).self) { try FetchCommand.parse(["http://127.0.0.1/"] + arguments) }
    }

    @Test func `a download goes on and is checked`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "netlayer-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let fields = [("ETag", "\"1\""), ("Content-Range", "bytes 3-5/6"), ("Content-Length", "3")]
        let server = try ScriptedServer([.read, .send(Script.head(206, fields: fields) + Data("def".utf8)), .close])
        let path = folder.appending(path: "file").path
        try Data("abc".utf8).write(to: URL(filePath: path + ".partial"))
        try Data(#"{"url":"\#(server.url())","validator":"\"1\""}"#.utf8)
            .write(to: URL(filePath: path + ".partial.json"))
        let sum = "bef57ec7f53a6d40beb640a780a639c83bc29ac8a9816f1fc6c5c6dcd93c4721"
        let command = try FetchCommand.parse([server.url(), "-C", "-o", path, "--checksum", "sha256:" + sum])
        try await command.run()
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "abcdef")
        #expect(server.requests.first?.values(of: "Range") == ["bytes=3-"])
    }

    @Test func `a form is multipart`() async throws {
        let server = try ScriptedServer(.ok())
        try await FetchCommand.parse([server.url(), "-F", "a=b", "-o", "/dev/null"]).run()
        let request = try #require(server.requests.first)
        #expect(request.method == "POST")
        #expect(request.values(of: "Content-Type").first?.hasPrefix("multipart/form-data; boundary=") == true)
        #expect(String(decoding: request.body, as: UTF8.self).contains("name=\"a\""))
    }

    @Test func `failures of files have their status`() {
        for code in [NetworkError.Code.diskFull, .unwritableFile] {
            #expect(ProcessStatus(NetworkError(code, "x")) == .file)
        }
        for code in [NetworkError.Code.checksumMismatch, .unacceptableStatus] {
            #expect(ProcessStatus(NetworkError(code, "x")) == .refusedByResult)
        }
    }
}
