import Foundation
import Testing
import ToolSupport

@testable import netlayer

@Suite(.patience(minutes: 1)) struct ByteSourceTests {
    @Test(arguments: ["cancelled", "stopped"]) func `a read that blocks ends`(how: String) async throws {
        let pipe = Pipe()
        let source = ByteSource(reading: pipe.fileHandleForReading.fileDescriptor, name: "a pipe")
        try pipe.fileHandleForWriting.write(contentsOf: Data("x".utf8))
        #expect(try await source.read() == Array("x".utf8))
        let read = Task { try await source.read() }
        if how == "stopped" {
            source.stop()
            #expect(try await read.value == [])
        } else {
            read.cancel()
            await #expect(throws: CancellationError.self) { try await read.value }
        }
        try pipe.fileHandleForWriting.close()
    }

    /// Regression: a command that reads many files had no descriptor left.
    @Test func `a file that has been read is closed`() async throws {
        let folder = TestFolder()
        let path = folder.path("input")
        try Data("x".utf8).write(to: URL(filePath: path))
        let isOpen = {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").contains {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
            }
        }
        var source: ByteSource? = try ByteSource(path: path)
        #expect(try isOpen())
        #expect(try await source?.readAll(limit: 1) == Array("x".utf8))
        source = nil
        // The queue may hold the source for a moment.
        while try isOpen() { await Task.yield() }
    }
}
