import Foundation
import NetworkLayer
import NetworkRecording
import Testing

@testable import netlayer

@Suite struct OutputTests {
    private let folder = TestFolder()

    @Test func `a file appears when it is finished, and keeps its mode`() throws {
        let target = folder.path("out")
        #expect(
            FileManager.default.createFile(
                atPath: target, contents: Data("old".utf8), attributes: [.posixPermissions: 0o640]))
        let file = try OutputFile(replacing: target)
        try file.write("new".utf8)
        #expect(FileManager.default.contents(atPath: target) == Data("old".utf8))
        try file.finish()
        #expect(FileManager.default.contents(atPath: target) == Data("new".utf8))
        #expect(try FileManager.default.attributesOfItem(atPath: target)[.posixPermissions] as? Int == 0o640)
        #expect(try folder.entries == ["out"])
    }

    @Test func `a file that is given up leaves nothing`() throws {
        func abandon() throws {
            let file = try OutputFile(replacing: folder.path("out"))
            try file.write("half".utf8)
        }
        try abandon()
        #expect(try folder.entries == [])
    }

    @Test func `a symbolic link stays, and its target is replaced`() throws {
        let target = folder.path("target")
        let link = folder.path("link")
        #expect(FileManager.default.createFile(atPath: target, contents: Data()))
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "target")
        let file = try OutputFile(replacing: link)
        try file.write("new".utf8)
        try file.finish()
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "target")
        #expect(FileManager.default.contents(atPath: target) == Data("new".utf8))
    }

    @Test func `a folder that is missing is named with the reason`() throws {
        let target = folder.path("no/out")
        let failure = #expect(throws: ToolFailure.self) {
            let file = try OutputFile(replacing: target)
            try file.finish()
        }
        #expect(failure?.status == .file)
        #expect(failure?.message.contains(target) == true)
    }

    @Test(arguments: [
        (NetworkError.Code.invalidURL, ProcessStatus.refusedBeforeSending), (.unsupported, .refusedBeforeSending),
        (.invalidConfiguration, .refusedBeforeSending), (.nameNotResolved, .notConnected), (.tlsFailed, .notConnected),
        (.connectTimeout, .timeout), (.idleTimeout, .timeout), (.totalTimeout, .timeout),
        (.truncatedBody, .brokenExchange), (.bodyTooLarge, .bodyTooLarge), (.invalidRecording, .file),
        (.init(rawValue: "new"), .brokenExchange),
    ])
    func `each error has its process status`(_ code: NetworkError.Code, _ status: ProcessStatus) {
        #expect(ProcessStatus(NetworkError(code, "")) == status)
    }

    @Test func `a table is aligned, and leaves no space at the end`() {
        var table = Table([("name", .left), ("n", .right), ("text", .left)])
        table.add(["a", "10", "x"])
        table.add(["long", "9", ""])
        #expect(table.lines == ["name   n  text", "a     10  x", "long   9"])
    }

    @Test func `progress tells share and speed where they are known`() {
        #expect(
            ProgressLine.text(12_300_000, of: 41_000_000, after: .seconds(3)) == "12.3 MB of 41.0 MB (30 %), 4.1 MB/s")
        #expect(ProgressLine.text(2_000_000, of: nil, after: .seconds(1)) == "2.0 MB, 2.0 MB/s")
        #expect(ProgressLine.text(2_000_000, of: 1_000_000, after: .zero) == "2.0 MB")
    }
}
