import Foundation
import NetworkTesting
import Testing
import ToolSupport

@testable import netlayer

@Suite(.patience(minutes: 1)) struct ByteSourceTests {
    /// Regression: the thread never ended, since only the consumer makes room.
    @Test func `the thread ends when its consumer is dropped`() async throws {
        let folder = try TestFolder()
        defer { folder.remove() }
        let path = folder.path("input")
        try Data(count: 20 * Descriptor.chunkBytes).write(to: URL(filePath: path))
        let file = try #require(FileHandle(forReadingAtPath: path))
        defer { try? file.close() }
        let source = ByteSource(reading: file.fileDescriptor, name: "the file")
        let hasEnded = Gate()
        let nine = UInt64(9 * Descriptor.chunkBytes)
        func readOne() async throws {
            var chunks = source.chunks(onEnd: { hasEnded.open() }).makeAsyncIterator()
            #expect(try await chunks.next()?.count == Descriptor.chunkBytes)
            // Until the thread is eight chunks ahead, and waits.
            while try file.offset() < nine, !Task.isCancelled { await Task.yield() }
            withExtendedLifetime(chunks) {}
        }
        try await readOne()
        try await hasEnded.wait()
        #expect(try file.offset() == nine)
    }

    /// Regression: a command that reads many files had no descriptor left.
    @Test func `a file that has been read is closed`() async throws {
        let folder = try TestFolder()
        defer { folder.remove() }
        let path = folder.path("input")
        try Data("x".utf8).write(to: URL(filePath: path))
        let isOpen = {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").contains {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
            }
        }
        let source = try ByteSource(path: path)
        #expect(try isOpen())
        #expect(try await source.readAll(limit: 1) == Array("x".utf8))
        #expect(try !isOpen())
        let hasEnded = Gate()
        for try await _ in try ByteSource(path: path).chunks(onEnd: { hasEnded.open() }) { break }
        try await hasEnded.wait()
        #expect(try !isOpen())
    }
}
