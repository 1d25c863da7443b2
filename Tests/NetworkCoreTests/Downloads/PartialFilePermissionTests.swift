import Foundation
import TestSupport
import Testing

@testable import NetworkCore

@Suite("A partial file has no wider permissions than the final file")
struct PartialFilePermissionTests {
    private func mode(of path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    /// Checks the permissions at every step of a download that is interrupted and resumed.
    private func check(_ final: Int, _ path: String, permissions: UInt16?) throws {
        let folder = (path as NSString).deletingLastPathComponent
        func look(_ step: String) throws {
            for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
                let file = folder + "/" + name
                // The owner may always read and write the incomplete file.
                #expect(try mode(of: file) & ~(final | 0o600) == 0, "\(name), \(step)")
            }
        }
        var file = try PartialFile(for: path, permissions: permissions)
        try look("opened")
        try file.restart(as: PartialRecord(url: "http://a/", validator: "\"v\"", total: 6))
        try file.append(Data("abc".utf8))
        try look("written")
        try file.leave()
        try look("left")
        file = try PartialFile(for: path, permissions: permissions, checksum: { SHA256Checksum() })
        try look("opened again")
        try file.resume()
        try file.append(Data("def".utf8))
        try look("resumed")
        try file.finish()
        #expect(try mode(of: path) == final)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "abcdef")
    }

    @Test(arguments: [0o600, 0o640, 0o400, 0o200, 0o604])
    func `a replaced file's permissions count`(final: Int) throws {
        try withFolder { folder in
            let path = folder + "/file"
            try "secret".write(toFile: path, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: final], ofItemAtPath: path)
            // Without read permission, only root can check the result.
            if final & 0o400 != 0 || geteuid() == 0 { try check(final, path, permissions: nil) }
        }
    }

    @Test(arguments: [0o600, 0o640, 0o400]) func `the permissions of the options count`(final: Int) throws {
        try withFolder { folder in try check(final, folder + "/file", permissions: UInt16(final)) }
    }

    /// An older version or a wide umask may have left such a file.
    @Test func `a partial file that is open to all is closed`() throws {
        try withFolder { folder in
            let path = folder + "/file"
            var older = try PartialFile(for: path)
            try older.restart(as: nil)
            try older.append(Data("abc".utf8))
            try older.leave()
            try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: path + ".partial")
            let file = try PartialFile(for: path, permissions: 0o600)
            #expect(try mode(of: path + ".partial") == 0o600)
            try file.delete()
        }
    }
}
