import Foundation
import TestSupport
import Testing

@testable import NetworkCore

struct PartialFileTests {
    private let record = PartialRecord(url: "http://127.0.0.1/", validator: "\"v1\"", total: 6)

    @Test func `a file appears when it is complete`() throws {
        try withFolder { folder in
            let path = folder + "/file"
            var file = try PartialFile(for: path)
            try file.restart(as: record)
            try file.append(Data("abcdef".utf8))
            #expect(!FileManager.default.fileExists(atPath: path))
            try file.finish()
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "abcdef")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["file"])
        }
    }

    @Test func `a part comes back with its record and sum`() throws {
        try withFolder { folder in
            let path = folder + "/file"
            var file = try PartialFile(for: path, checksum: { SHA256Checksum() })
            try file.restart(as: record)
            try file.append(Data("abc".utf8))
            try file.leave()
            file = try PartialFile(for: path, checksum: { SHA256Checksum() })
            #expect(file.length == 3)
            #expect(file.record == record)
            try file.resume()
            try file.append(Data("def".utf8))
            #expect(file.sum() == "bef57ec7f53a6d40beb640a780a639c83bc29ac8a9816f1fc6c5c6dcd93c4721")
            try file.finish()
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "abcdef")
        }
    }

    @Test func `summing up a part ends with the time`() throws {
        try withFolder { folder in
            var file = try PartialFile(for: folder + "/file")
            try file.restart(as: record)
            try file.append(Data(count: 1 << 20))
            try file.leave()
            file = try PartialFile(for: folder + "/file", checksum: { SHA256Checksum() })
            var asked = 0
            expectFailure(.totalTimeout) {
                try file.resume { () throws(NetworkError) in
                    asked += 1
                    if asked == 2 { throw NetworkError.totalTimeout }
                }
            }
            #expect(asked == 2)
            try file.delete()
        }
    }

    @Test func `a second download to the same place is refused`() throws {
        try withFolder { folder in
            let file = try PartialFile(for: folder + "/file")
            #expect(refusal(of: folder + "/file") == EBUSY)
            try file.delete()
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
            try PartialFile(for: folder + "/file").delete()
        }
    }

    /// Regression: a second `close` closed another file that had got the same descriptor number in the meantime.
    @Test func `a file is closed once`() throws {
        try withFolder { folder in
            var file = try PartialFile(for: folder + "/file")
            try file.restart(as: nil)
            try file.finish()
            let others = try (0..<8).map { try SystemFile(opening: folder + "/\($0)", O_RDWR | O_CREAT) }
            try file.delete()
            try file.leave()
            for other in others { #expect(throws: Never.self) { try other.status() } }
            for other in others { try other.close() }
            #expect(FileManager.default.fileExists(atPath: folder + "/file"))
        }
    }

    /// Regression: the new name can't be synced in such a folder, which failed the download after its end. Root may
    /// read any folder.
    @Test(.enabled(if: geteuid() != 0)) func `a folder that can't be read takes the file`() throws {
        try withFolder { folder in
            try FileManager.default.setAttributes([.posixPermissions: 0o333], ofItemAtPath: folder)
            defer { try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder) }
            try write("new", to: try PartialFile(for: folder + "/file"))
            #expect(try String(contentsOfFile: folder + "/file", encoding: .utf8) == "new")
        }
    }

    @Test func `a file in the way is an error`() throws {
        try withFolder { folder in
            #expect(refusal(of: folder) == EISDIR)
            #expect(refusal(of: "/dev/null") == EEXIST)
            #expect(refusal(of: folder + "/none/file") == ENOENT)
            // A link in the partial file's place may lead anywhere.
            try FileManager.default.createSymbolicLink(
                atPath: folder + "/file.partial", withDestinationPath: folder + "/other")
            #expect(refusal(of: folder + "/file") == ELOOP)
        }
    }

    @Test func `permissions are those of the replaced file or as asked`() throws {
        try withFolder { folder in
            let path = folder + "/file"
            try "old".write(toFile: path, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
            try write("new", to: try PartialFile(for: path))
            #expect(try mode(of: path) == 0o640)
            try write("newer", to: try PartialFile(for: path, permissions: 0o400))
            #expect(try mode(of: path) == 0o400)
        }
    }

    @Test func `a link in the file's place stays a link`() throws {
        try withFolder { folder in
            try "old".write(toFile: folder + "/target", atomically: true, encoding: .utf8)
            try FileManager.default.createSymbolicLink(
                atPath: folder + "/link", withDestinationPath: folder + "/target")
            try write("new", to: try PartialFile(for: folder + "/link"))
            #expect(try String(contentsOfFile: folder + "/target", encoding: .utf8) == "new")
            #expect(
                try FileManager.default.destinationOfSymbolicLink(atPath: folder + "/link") == folder + "/target")
        }
    }

    @Test func `a full disk has a code of its own`() throws {
        let full = try SystemFile(opening: "/dev/full", O_WRONLY)
        let error = try #require(throws: NetworkError.self) { try full.write(Data("x".utf8)) }
        try full.close()
        #expect(error.code == .diskFull)
        #expect(error.underlying?.domain == "errno" && error.underlying?.code == Int(ENOSPC))
        #expect(NetworkError.file("name", EFBIG).code == .unwritableFile)
    }

    /// Returns the `errno` of the refusal.
    private func refusal(of path: String) -> Int32? {
        do throws(NetworkError) {
            let file = try PartialFile(for: path)
            Issue.record("'\(path)' was accepted")
            try file.delete()
            return nil
        } catch {
            #expect(error.code == .unwritableFile)
            return error.underlying.map { Int32($0.code) }
        }
    }

    private func write(_ text: String, to file: PartialFile) throws {
        var file = file
        try file.restart(as: nil)
        try file.append(Data(text.utf8))
        try file.finish()
    }

    private func mode(of path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }
}

/// Calls `body` with a temporary folder, and removes the folder afterwards.
func withFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: "networklayer-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try body(folder)
}
