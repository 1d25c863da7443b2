import Foundation
import TestSupport
import Testing

@testable import NetworkCore

/// Checks that a download overwrites only files that another download has left.
struct PartialFileOwnershipTests {
    private let record = PartialRecord(url: "http://127.0.0.1/", validator: "\"v1\"", total: 6)

    private func permissions(of path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    private func text(of path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    @Test func `a user's file stays as it is`() throws {
        try withFolder { folder in
            let own = folder + "/a.partial"
            try "MY OWN NOTES".write(toFile: own, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: own)
            let error = expectFailure(.unwritableFile) { try PartialFile(for: folder + "/a", permissions: 0o600) }
            #expect(error?.message.contains("/a.partial'") == true, "\(String(describing: error))")
            #expect(try text(of: own) == "MY OWN NOTES")
            #expect(try permissions(of: own) == 0o640)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["a.partial"])
        }
    }

    @Test(arguments: ["MY OWN NOTES", "[]", "{", "{\"url\":1}", String(repeating: "x", count: 70_000)], [true, false])
    func `a user's record stays as it is`(words: String, hasPart: Bool) throws {
        try withFolder { folder in
            let own = folder + "/a.partial.json"
            try words.write(toFile: own, atomically: true, encoding: .utf8)
            if hasPart { try "part".write(toFile: folder + "/a.partial", atomically: true, encoding: .utf8) }
            let error = expectFailure(.unwritableFile) { try PartialFile(for: folder + "/a") }
            #expect(error?.message.contains("/a.partial.json'") == true, "\(String(describing: error))")
            #expect(try text(of: own) == words)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
            #expect(names == (hasPart ? ["a.partial"] : []) + ["a.partial.json"])
        }
    }

    /// A killed download can't clean up. Its record exists before the first byte.
    @Test(arguments: [true, false]) func `the remains of a killed download are taken over`(isResumable: Bool) throws {
        try withFolder { folder in
            var file = try PartialFile(for: folder + "/a")
            try file.restart(as: isResumable ? record : nil)
            try file.append(Data("abc".utf8))
            try file.leave()
            file = try PartialFile(for: folder + "/a")
            #expect(file.length == 3)
            #expect(file.record == (isResumable ? record : nil))
            try file.restart(as: record)
            try file.append(Data("abcdef".utf8))
            try file.finish()
            #expect(try text(of: folder + "/a") == "abcdef")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["a"])
        }
    }

    /// Regression: an empty file counted as a download's own.
    @Test(arguments: [nil, "", "NOTES"], [nil, "", "{}", "{\n}"]) func `an empty file of the user's stays as it is`(
        part: String?, record: String?
    ) throws {
        // An empty record is what a download that was killed in its first moment leaves.
        if part == nil, record ?? "" == "" { return }
        try withFolder { folder in
            for (name, text) in [("/a.partial", part), ("/a.partial.json", record)] {
                if let text { try Data(text.utf8).write(to: URL(filePath: folder + name)) }
            }
            let before = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
            expectFailure(.unwritableFile) { try PartialFile(for: folder + "/a", permissions: 0o600) }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == before)
            for (name, own) in [("/a.partial", part), ("/a.partial.json", record)] {
                if let own { #expect(try text(of: folder + name) == own) }
            }
        }
    }

    /// Left by a download that was interrupted before its first byte, or between the steps of its start.
    @Test(arguments: [true, false], [true, false])
    func `an empty part is taken over`(hasRecord: Bool, hasPart: Bool) throws {
        try withFolder { folder in
            var file = try PartialFile(for: folder + "/a")
            if hasRecord { try file.restart(as: record) }
            try file.leave()
            if !hasPart { try FileManager.default.removeItem(atPath: folder + "/a.partial") }
            file = try PartialFile(for: folder + "/a")
            #expect(file.length == 0)
            try file.delete()
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
        }
    }

    /// Exactly one of several downloads that begin at the same time goes on.
    @Test func `downloads that begin together are one`() async throws {
        try await withFolder { folder in
            for round in 0..<20 {
                let path = folder + "/\(round)"
                let winners = await withTaskGroup(of: Bool.self) { group in
                    for _ in 0..<4 {
                        group.addTask { (try? PartialFile(for: path)) != nil }
                    }
                    return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                }
                #expect(winners == 1)
            }
        }
    }

    @Test func `a part that can't be resumed is not left`() throws {
        try withFolder { folder in
            var file = try PartialFile(for: folder + "/a")
            try file.restart(as: nil)
            try file.append(Data("abc".utf8))
            try file.giveUp(isUsable: true)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
        }
    }

    @Test func `a download keeps others out until its record is gone`() throws {
        try withFolder { folder in
            let path = folder + "/a"
            var first = try PartialFile(for: path)
            try first.restart(as: record)
            try first.append(Data("abc".utf8))
            try FileManager.default.moveItem(atPath: path + ".partial", toPath: path)
            expectFailure(.unwritableFile) { try PartialFile(for: path) }
            try first.delete()
            var second = try PartialFile(for: path)
            try second.restart(as: PartialRecord(url: "http://127.0.0.1/", validator: "\"v2\""))
            // A record that has taken the name meanwhile stays.
            try first.delete()
            try second.append(Data("xy".utf8))
            try second.leave()
            let third = try PartialFile(for: path)
            #expect(third.length == 2)
            #expect(third.record?.validator == "\"v2\"")
            try third.delete()
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["a"])
        }
    }

    /// What may become of the name of a download's partial file while the download runs.
    enum Change: CaseIterable {
        /// A user deletes the file.
        case deleted
        /// A user deletes the file and its record, and another download to the same path begins.
        case begunAnew
        /// A download to `NAME.partial` itself ends.
        case renamedOnto
    }

    /// Regression: a download renamed and deleted by name, so another download's bytes got its name.
    @Test(arguments: Change.allCases, [true, false])
    func `a download ends with its own bytes alone, whatever becomes of its name`(
        change: Change, finishes: Bool
    ) throws {
        try withFolder { folder in
            let path = folder + "/a"
            var first = try PartialFile(for: path)
            try first.restart(as: record)
            try first.append(Data("abc".utf8))
            var second: PartialFile?
            switch change {
            case .deleted: try FileManager.default.removeItem(atPath: path + ".partial")
            case .begunAnew:
                for name in [".partial", ".partial.json"] {
                    try FileManager.default.removeItem(atPath: path + name)
                }
                second = try PartialFile(for: path)
            case .renamedOnto: second = try PartialFile(for: path + ".partial")
            }
            try second?.restart(as: nil)
            try second?.append(Data("xy".utf8))
            if change == .renamedOnto { try second?.finish() }
            expectFailure(.unwritableFile) {
                if finishes { try first.finish() } else { try first.restart(as: nil) }
            }
            try first.delete()
            if change == .begunAnew { try second?.finish() }
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            switch change {
            case .deleted: #expect(names.isEmpty)
            case .begunAnew:
                #expect(names == ["a"])
                #expect(try text(of: path) == "xy")
            case .renamedOnto:
                #expect(try text(of: path + ".partial") == "xy")
                #expect(!names.contains("a"))
            }
        }
    }
}
