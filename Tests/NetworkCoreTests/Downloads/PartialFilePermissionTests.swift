import Foundation
import TestSupport
import Testing

@testable import NetworkCore

@Suite("A partial file has no wider permissions than the final file")
struct PartialFilePermissionTests {
    private func mode(of path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    private func group(of path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.groupOwnerAccountID] as? Int)
    }

    /// Checks the permissions at every step of a download that is interrupted and resumed.
    private func check(_ final: Int, _ path: String, group: Int? = nil, permissions: UInt16?) throws {
        let folder = (path as NSString).deletingLastPathComponent
        func look(_ step: String) throws {
            for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
                let file = folder + "/" + name
                // The owner may always read and write the incomplete file.
                #expect(try mode(of: file) & ~(final | 0o600) == 0, "\(name), \(step)")
                // A file without group permissions may have any group.
                guard let group, try mode(of: file) & 0o070 != 0 else { continue }
                #expect(try self.group(of: file) == group, "\(name), \(step)")
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
        if let group { #expect(try self.group(of: path) == group) }
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

    /// Regression: the permissions of the replaced file's group were the process's group's until the end.
    @Test(.enabled(if: geteuid() == 0), arguments: [0o660, 0o640], [nil, 0o660] as [UInt16?])
    func `the group's permissions are for the replaced file's group`(final: Int, permissions: UInt16?) throws {
        try withFolder { folder in
            let path = folder + "/file"
            try "secret".write(toFile: path, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: final], ofItemAtPath: path)
            try #require(chown(path, 12_345, 54_321) == 0)
            try check(permissions.map { Int($0) } ?? final, path, group: 54_321, permissions: permissions)
        }
    }

    @Test(
        arguments: [
            (0o660, 0o600), (0o664, 0o644), (0o640, 0o600), (0o646, 0o646), (0o666, 0o666), (0o604, 0o604),
            (0o777, 0o777),
            (0o755, 0o755), (0o750, 0o700), (0o731, 0o711),
        ] as [(UInt32, UInt32)])
    func `another group has no more than others had`(permissions: UInt32, rest: UInt32) {
        let replaced = FilePlace.Attributes(permissions: permissions, owner: 1, group: 2)
        #expect(replaced.permissions(permissions, inGroup: 3) == rest)
        #expect(replaced.permissions(permissions, inGroup: 2) == permissions)
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
