import Foundation
import Testing

@testable import NetworkCore

@Suite("A download writes to the same file as the system would")
struct PartialFilePathTests {
    private func read(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    private func write(_ text: String, to path: String) throws {
        try text.write(toFile: path, atomically: false, encoding: .utf8)
    }

    private func download(to path: String) throws {
        var file = try PartialFile(for: path)
        try file.restart(as: nil)
        try file.append(Data("new".utf8))
        try file.finish()
    }

    private func refusal(of path: String) -> Int? {
        #expect(throws: NetworkError.self) { try PartialFile(for: path).delete() }?.underlying?.code
    }

    @Test(arguments: [
        ("link/../f", "s/f"), ("s//../f", "f"), ("s/./../f", "f"), ("s/deep//../f", "s/f"), ("s/deep/../../f", "f"),
        ("link/f", "s/deep/f"), ("~/f", "~/f"), ("s/to", "s/deep/f"), ("link/../to", "s/deep/f"), ("up", "s/f"),
    ])
    func `an existing file is replaced where it is`(path: String, expected: String) throws {
        try withFolder { folder in
            for name in ["s/deep", "~"] {
                try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
            }
            for (link, target) in [("link", "s/deep"), ("s/to", "deep/f"), ("up", "link/../f")] {
                try FileManager.default.createSymbolicLink(atPath: "\(folder)/\(link)", withDestinationPath: target)
            }
            let files = ["f", "s/f", "s/deep/f", "~/f"]
            for name in files { try write("old", to: "\(folder)/\(name)") }
            try download(to: "\(folder)/\(path)")
            for name in files {
                #expect(try read("\(folder)/\(name)") == (name == expected ? "new" : "old"), "\(name)")
            }
        }
    }

    @Test func `a link to nothing is followed`() throws {
        try withFolder { folder in
            try FileManager.default.createSymbolicLink(atPath: folder + "/link", withDestinationPath: "target")
            try download(to: folder + "/link")
            #expect(try read(folder + "/target") == "new")
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder + "/link") == "target")
        }
    }

    @Test func `a file that can't be written is refused before anything is made`() throws {
        try withFolder { folder in
            try FileManager.default.createSymbolicLink(atPath: folder + "/a", withDestinationPath: "b")
            try FileManager.default.createSymbolicLink(atPath: folder + "/b", withDestinationPath: "a")
            let long = { String(repeating: "x", count: $0) }
            #expect(refusal(of: folder + "/a") == Int(ELOOP))
            for count in [243, 247, 255] { #expect(refusal(of: "\(folder)/\(long(count))") == Int(ENAMETOOLONG)) }
            #expect(refusal(of: "") == Int(ENOENT))
            #expect(!FileManager.default.fileExists(atPath: ".partial"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["a", "b"])
            try download(to: "\(folder)/\(long(242))")
            #expect(try read("\(folder)/\(long(242))") == "new")
        }
    }

    @Test func `deleting leaves what has taken the record's name`() throws {
        try withFolder { folder in
            let file = try PartialFile(for: folder + "/file")
            try FileManager.default.removeItem(atPath: folder + "/file.partial.json")
            try FileManager.default.createDirectory(
                atPath: folder + "/file.partial.json", withIntermediateDirectories: true)
            try file.delete()
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["file.partial.json"])
        }
    }

    @Test(.enabled(if: geteuid() == 0)) func `a replaced file keeps its owner`() throws {
        try withFolder { folder in
            try write("old", to: folder + "/file")
            try #require(chown(folder + "/file", 12_345, 54_321) == 0)
            try download(to: folder + "/file")
            let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/file")
            #expect(attributes[.ownerAccountID] as? Int == 12_345)
            #expect(attributes[.groupOwnerAccountID] as? Int == 54_321)
        }
    }
}
