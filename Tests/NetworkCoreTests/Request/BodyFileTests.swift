import Foundation
import TestSupport
import Testing

@testable import NetworkCore

@Suite struct BodyFileTests {
    @Test func `a path of no regular file is refused in its own words`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "body-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try #require(mkfifo(folder + "/pipe", 0o600) == 0)
        for path in [folder + "/pipe", "/dev/null"] {
            let error = expectFailure(.unreadableFile) { try TransportRequest.Body.file(path) }
            #expect(error?.underlying?.message == "it is not a regular file", "\(error as Any)")
        }
        let error = expectFailure(.unreadableFile) { try TransportRequest.Body.file(folder) }
        #expect(error?.underlying?.code == Int(EISDIR))
    }
}
