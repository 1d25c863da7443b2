import Foundation
import NetworkTesting
import Testing
import ToolSupport

@testable import netlayer

@Suite("The program writes to the path's target and nowhere else", .patience(minutes: 1)) struct OutputPlaceTests {
    private let folder = TestFolder()

    enum Mode: CaseIterable { case plain, resumable }

    @Test(arguments: Mode.allCases, [("link/../f", "s/f"), ("s//../f", "f"), ("~/f", "~/f"), ("to", "s/f")])
    func `an existing file is kept until the new one is whole`(mode: Mode, place: (path: String, expected: String))
        async throws
    {
        let server = try ScriptedServer(.ok("new"))
        for name in ["s/deep", "~"] {
            try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
        }
        for (link, target) in [("link", "s/deep"), ("to", "s/f")] {
            try FileManager.default.createSymbolicLink(atPath: folder.path(link), withDestinationPath: target)
        }
        let files = ["f", "s/f", "~/f"]
        for name in files { _ = try folder.write("old", to: name) }
        let options = mode == .resumable ? ["-C"] : []
        let tool = try RunningTool(["fetch", server.url(), "-o", place.path] + options, in: folder)
        #expect(await tool.status == 0)
        for name in files { #expect(try folder.read(name) == (name == place.expected ? "new" : "old"), "\(name)") }
    }

    @Test func `a link to nothing is followed, and a loop is an error`() async throws {
        for (link, target) in [("link", "target"), ("loop", "loop")] {
            try FileManager.default.createSymbolicLink(atPath: folder.path(link), withDestinationPath: target)
        }
        let file = try OutputFile(replacing: folder.path("link"))
        try file.write("new".utf8)
        try file.finish()
        #expect(try folder.read("target") == "new")
        #expect(throws: ToolFailure.self) { try OutputFile(replacing: folder.path("loop")).finish() }
        #expect(try folder.entries == ["link", "loop", "target"])
    }

    @Test(.enabled(if: geteuid() == 0)) func `a replaced file keeps its owner`() throws {
        try Data().write(to: URL(filePath: folder.path("out")))
        try #require(chown(folder.path("out"), 12_345, 54_321) == 0)
        try OutputFile(replacing: folder.path("out")).finish()
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("out"))
        #expect(attributes[.ownerAccountID] as? Int == 12_345)
        #expect(attributes[.groupOwnerAccountID] as? Int == 54_321)
    }

    /// As with curl: permission to create files in the folder is no permission to replace this one.
    @Test(arguments: Mode.allCases) func `a file that may not be written is not replaced`(mode: Mode) async throws {
        let server = try ScriptedServer(.ok("new"))
        _ = try folder.write("old", to: "out")
        try #require(chmod(folder.path("out"), 0o444) == 0)
        let options = mode == .resumable ? ["-C"] : []
        let run = try await ToolRun(["fetch", server.url(), "-o", folder.path("out")] + options)
        // File modes do not restrict root.
        #expect(run.status == (geteuid() == 0 ? 0 : ProcessStatus.file.rawValue), "\(run.errors)")
        #expect(try folder.read("out") == (geteuid() == 0 ? "new" : "old"))
        #expect(try folder.entries == ["out"])
    }

    @Test(arguments: ["/dev/stdout", "/proc/self/fd/1", "/dev/fd/1"])
    func `an open file is written into`(path: String) async throws {
        let server = try ScriptedServer(.ok("new"))
        _ = try folder.write("old\n", to: "log")
        let before = try FileManager.default.attributesOfItem(atPath: folder.path("log"))[.systemFileNumber] as? Int
        let command = "'\(RunningTool.path)' fetch \(server.url()) -o \(path) >> log; echo end >> log"
        #expect(await (try RunningTool(["-c", command], shell: true, in: folder)).status == 0)
        #expect(try folder.read("log") == "old\nnewend\n")
        let after = try FileManager.default.attributesOfItem(atPath: folder.path("log"))[.systemFileNumber] as? Int
        #expect(before == after)
    }

    /// As with curl. Regression: the body went to a file of that name.
    @Test func `a dash is standard output`() async throws {
        let server = try ScriptedServer(.ok("new"))
        let run = try RunningTool(["fetch", server.url(), "-o", "-"], in: folder)
        #expect(await run.status == 0)
        #expect(try run.output.readToEnd() == Data("new".utf8))
        #expect(try folder.entries == [])
    }

    /// Regression: the temporary file's name was longer, and too long.
    @Test func `the longest name is written`() async throws {
        let server = try ScriptedServer(.response(fields: [("Set-Cookie", "a=b; Max-Age=60")], body: Data("x".utf8)))
        let (name, jar) = (String(repeating: "n", count: 255), String(repeating: "j", count: 255))
        _ = try await ToolRun(
            [
                "fetch", server.url(), "-o", folder.path(name), "--cookie-jar", folder.path(jar),
            ], status: 0)
        #expect(try folder.entries == [jar, name])
    }

    @Test func `a failed run writes no file`() async throws {
        let server = try ScriptedServer(.response(404, body: Data("not found".utf8)))
        _ = try folder.write("good", to: "out")
        for options in [[], ["--as-json"], ["-i"]] {
            let run = try await ToolRun(["fetch", server.url(), "--fail", "-o", folder.path("out")] + options)
            #expect(run.status == ProcessStatus.refusedByResult.rawValue && run.errors.contains("404"))
            #expect(try folder.read("out") == "good")
        }
        #expect(try folder.entries == ["out"])
    }

    /// The files that another download has left are unchanged until this one has written.
    @Test(arguments: [404, nil]) func `a failed download leaves what it has not written`(status: Int?) async throws {
        let server = try ScriptedServer(.response(status ?? 200))
        let url = server.url()
        if status == nil { server.stop() }
        _ = try folder.write("abc", to: "out.partial")
        let record = #"{"url":"\#(url)","validator":"\"1\""}"#
        _ = try folder.write(record, to: "out.partial.json")
        let sum = "sha256:" + String(repeating: "0", count: 64)
        let run = try await ToolRun(["fetch", url, "-o", folder.path("out"), "--checksum", sum])
        #expect(run.status != 0)
        #expect(try folder.entries == ["out.partial", "out.partial.json"])
        #expect(try folder.read("out.partial") == "abc" && folder.read("out.partial.json") == record)
        // Without files from before, none remain.
        _ = try await ToolRun(["fetch", url, "-o", folder.path("other"), "--checksum", sum])
        #expect(try folder.entries == ["out.partial", "out.partial.json"])
    }

    /// Regression: a HEAD request replaced the file with an empty one.
    @Test func `a HEAD request is no download`() async throws {
        let server = try ScriptedServer(
            [.read, .send(Script.head(200, fields: [("Content-Length", "9"), ("ETag", "\"1\"")])), .close])
        _ = try folder.write("old", to: "out")
        let run = try await ToolRun(["fetch", "-X", "HEAD", server.url(), "-o", folder.path("out"), "-C"])
        #expect(run.status != 0)
        #expect(run.errors.contains("HEAD"), "\(run.errors)")
        #expect(server.requests.isEmpty)
        #expect(try folder.read("out") == "old")
        #expect(try folder.entries == ["out"])
    }
}
