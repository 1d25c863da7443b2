import Foundation
import TestSupport
import Testing

@testable import NetworkCore

/// A process that has no descriptor left for a moment. Each test is a process of its own.
@Suite(.patience(minutes: 1))
struct ShortDescriptorsTests {
    static func exhaust() -> [Int32] {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(7), &limit)
        limit.rlim_cur = 256
        setrlimit(__rlimit_resource_t(7), &limit)
        var taken: [Int32] = []
        // Again and again: the runtime's threads give descriptors back in the first moments of a process.
        for _ in 0..<2_000 {
            while true {
                let descriptor = open("/dev/null", O_RDONLY)
                guard descriptor >= 0 else { break }
                taken.append(descriptor)
            }
            sched_yield()
        }
        return taken
    }

    /// Regression: the partial file stayed open and locked, and every later download to the path was refused.
    @Test func `a new download that can't have its record leaves nothing behind`() async {
        await #expect(processExitsWith: .success) {
            try withFolder { folder in
                var taken: [Int32] = []
                var failure: NetworkError?
                // Again where a thread of the runtime has given a descriptor back meanwhile.
                for _ in 0..<100 where failure == nil {
                    taken += ShortDescriptorsTests.exhaust()
                    // One descriptor for the record, and none for the file.
                    close(taken.removeLast())
                    do throws(NetworkError) {
                        let file = try PartialFile(for: folder + "/a")
                        try file.delete()
                    } catch {
                        failure = error
                    }
                }
                #expect(failure?.code == .unwritableFile && failure?.underlying?.code == Int(EMFILE))
                for descriptor in taken { close(descriptor) }
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
                let file = try PartialFile(for: folder + "/a")
                try file.delete()
            }
        }
    }

    /// Regression: a record that could not be opened counted as another file, and the bytes were deleted.
    @Test func `an interrupted download keeps its bytes`() async {
        await #expect(processExitsWith: .success) {
            try withFolder { folder in
                var file = try PartialFile(for: folder + "/a")
                let record = PartialRecord(url: "http://127.0.0.1/", validator: "\"v1\"", total: 6)
                try file.restart(as: record)
                try file.append(Data("abc".utf8))
                var taken = ShortDescriptorsTests.exhaust()
                try file.giveUp(isUsable: true)
                close(taken.removeLast())
                // One descriptor for the record, and none for the file.
                while true {
                    let descriptor = open("/dev/null", O_RDONLY)
                    guard descriptor >= 0 else { break }
                    taken.append(descriptor)
                }
                close(taken.removeLast())
                let error = expectFailure(.unwritableFile) { try PartialFile(for: folder + "/a") }
                #expect(error?.underlying?.code == Int(EMFILE), "\(error as Any)")
                for descriptor in taken { close(descriptor) }
                file = try PartialFile(for: folder + "/a")
                #expect(file.length == 3)
                #expect(file.record == record)
                try file.delete()
            }
        }
    }
}
