import Foundation
import NetworkCore
@testable import NetworkRecording
import NetworkTesting
import TestSupport
import Testing
import Synchronization

@Suite(.patience(minutes: 1))
struct RecordingFileTests {
    private let stub = StubTransport(always: .text("body", headerFields: [.contentType: "text/plain"]))
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func count(_ path: String) throws -> Int {
        let document = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: path)))
        let log = try #require((document as? [String: Any])?["log"] as? [String: Any])
        return try #require(log["entries"] as? [Any]).count
    }

    @Test func `the file is valid JSON after each entry`() async throws {
        let file = try RecordingFile(folder.file())
        try await file.flush()
        #expect(try count(folder.file()) == 0)
        let transport = RecordingTransport(stub, to: file, options: .allBodies)
        for number in 1...5 {
            try await transport.get("http://h/\(number)")
            try await file.flush()
            #expect(try count(folder.file()) == number)
            let recording = try Recording(contentsOf: folder.file())
            #expect(recording.entries.last?.request.url == "http://h/\(number)")
            #expect(recording.isIncomplete)
        }
        try await file.close()
        try await file.close()
        #expect(try !Recording(contentsOf: folder.file()).isIncomplete)
        // Later exchanges are counted only.
        try await transport.get("http://h/")
        try await file.flush()
        #expect(try count(folder.file()) == 5)
        #expect(file.writtenCount == 5)
        #expect(file.leftOutCount == 1)
    }

    @Test func `concurrent exchanges are all in the file`() async throws {
        let file = try RecordingFile(folder.file())
        let transport = RecordingTransport(stub, to: file, options: .allBodies)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask { try await transport.get("http://h/\(number)", method: .post, body: "\(number)") }
            }
            try await group.waitForAll()
        }
        try await file.close()
        let entries = try Recording(contentsOf: folder.file()).entries
        #expect(Set(entries.map(\.request.url)).count == 200)
        #expect(entries.count == 200)
        #expect(entries.allSatisfy { $0.request.url.hasSuffix("/" + ($0.request.body?.text ?? "?")) })
        // Given back, in any order.
        let replay = ReplayTransport(Recording(entries: entries), matching: .strict)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask { try await replay.get("http://h/\(number)", method: .post, body: "\(number)") }
            }
            try await group.waitForAll()
        }
        try replay.checkAllUsed()
    }

    @Test func `only the owner may read the file`() async throws {
        try await RecordingFile(folder.file()).close()
        #expect(try permissions(folder.file()) == 0o600)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder.file())
        try await RecordingFile(folder.file(), overwrites: true).close()
        #expect(try permissions(folder.file()) == 0o600)
    }

    private func permissions(_ path: String) throws -> Int? {
        (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue
    }

    @Test func `a file is overwritten only where that is wanted`() async throws {
        try Data("mine".utf8).write(to: URL(fileURLWithPath: folder.file()))
        let error = expectFailure(.unwritableFile) { try RecordingFile(folder.file()) }
        #expect(error?.underlying?.message == "File exists")
        #expect(try folder.text() == "mine")
        let file = try RecordingFile(folder.file(), overwrites: true)
        try await file.close()
        #expect(try count(folder.file()) == 0)
        expectFailure(.unwritableFile) { try RecordingFile(folder.file("none/a.har")) }
    }

    @Test func `a full disk is reported once and harms no request`() async throws {
        let (log, reported) = (CanaryLog(), Errors())
        let file = try RecordingFile(
            "/dev/full", overwrites: true, logger: log.logger, onFailure: { reported.add($0) })
        let transport = RecordingTransport(stub, to: file, options: .allBodies)
        for _ in 0..<5 { #expect(try await transport.get("http://h/").body == Data("body".utf8)) }
        await expectFailure(.diskFull) { try await file.flush() }
        await expectFailure(.diskFull) { try await file.close() }
        #expect(reported.codes == [.diskFull])
        #expect(log.messages.count == 1)
        #expect(file.leftOutCount == 5)
        #expect(file.writtenCount == 0)
    }

    /// Regression: the counts had the lock under which the disk is written, and a reader called the failure's handler.
    @Test func `a disk that blocks holds up no reader`() async throws {
        let reported = Errors()
        let (isWriting, isRead, mayWrite) = (Gate(), Gate(), DispatchSemaphore(value: 0))
        let file = try RecordingFile(
            folder.file(), false, .max, CanaryLog().logger, { reported.add($0) },
            beforeWrite: {
                isWriting.open()
                mayWrite.wait()
                mayWrite.signal()
            })
        // Also after a failure, the queue's thread goes on.
        defer { mayWrite.signal() }
        try await isWriting.wait()
        let counts = Guarded<[Int]>([])
        Thread.detachNewThread {
            for _ in 0..<3 {
                file.add(size: EntryQueue.maximumQueued) { Recording.Entry(request: .init(url: "http://h/")) }
            }
            let found = [file.writtenCount, file.leftOutCount]
            counts.withLock { $0 = found }
            isRead.open()
        }
        try await isRead.wait()
        #expect(counts.withLock { $0 } == [0, 2])
        // The queue, which calls the handler, waits for the disk.
        #expect(reported.codes.isEmpty)
        mayWrite.signal()
        try await file.close()
        #expect(reported.codes == [.unwritableFile])
        #expect(file.writtenCount == 1 && file.leftOutCount == 2)
        #expect(try count(folder.file()) == 1)
        #expect(try Recording(contentsOf: folder.file()).isIncomplete)
    }

    @Test func `above the limit of the file nothing more is recorded`() async throws {
        let (log, reported) = (CanaryLog(), Errors())
        let file = try RecordingFile(
            folder.file(), maximumBytes: 4000, logger: log.logger, onFailure: { reported.add($0) })
        let transport = RecordingTransport(stub, to: file, options: .allBodies)
        for _ in 0..<10 { try await transport.get("http://h/") }
        try await file.close()
        #expect(try count(folder.file()) == file.writtenCount)
        #expect(file.writtenCount > 0)
        #expect(file.writtenCount + file.leftOutCount == 10)
        #expect(try folder.text().utf8.count <= 4000)
        #expect(try Recording(contentsOf: folder.file()).isIncomplete)
        #expect(log.messages.count == 1)
        #expect(reported.codes == [.unwritableFile])
    }

    /// A reader takes no more values than that, so a file with more could not be used.
    @Test func `a file has no more values than a reader takes`() throws {
        var document = GrowingDocument(
            file: try PrivateFile(creating: folder.file(), replaces: true), maximumBytes: .max, maximumValues: 300)
        try document.begin()
        let entry = Recording.Entry(request: .init(url: "http://h/,,,[{")).harLine
        var (written, reasons) = (0, [NetworkError]())
        for number in 0..<20 {
            do { if try document.append(entry, isFirst: number == 0) { written += 1 } } catch { reasons.append(error) }
        }
        #expect(document.close(isComplete: true) == nil)
        #expect(written > 0 && written < 20 && reasons.map(\.code) == [.unwritableFile])
        let count = HARDocument.valueCount(of: Array(try folder.text().utf8))
        #expect(count == document.values && count <= 300 && count + HARDocument.valueCount(of: entry) + 1 > 300)
    }

    /// Regression: trailers and reason phrases counted for nothing in the limits.
    @Test func `the size of an entry is that of all that a server sends`() throws {
        let (long, name) = (String(repeating: "x", count: 15_000), try #require(HTTPField.Name("X-Long")))
        let short = (0..<300).map { _ in HTTPField(name: name, value: "") }
        for response in [
            Recording.Response(status: 200, reason: long), Recording.Response(status: 200, trailers: [name: long]),
            Recording.Response(status: 200, headerFields: [name: long]),
            Recording.Response(status: 200, body: .init(Data(long.utf8), limit: 20_000)),
            Recording.Response(status: 200, headerFields: HTTPFields(short)),
        ] {
            #expect(Recording.Entry(request: .init(url: "http://h/"), response: response).approximateSize > 15_000)
        }
    }

    @Test func `an entry of another module can be added`() async throws {
        let file = try RecordingFile(folder.file())
        file.append(Recording.Entry(request: .init(url: "http://h/?token=canary")))
        try await file.close()
        #expect(try !folder.text().contains("canary"))
        #expect(try count(folder.file()) == 1)
    }
}

/// The errors that a handler received.
private final class Errors: Sendable {
    private let errors = Guarded<[NetworkError]>([])

    func add(_ error: NetworkError) { errors.withLock { $0.append(error) } }

    var codes: [NetworkError.Code] { errors.withLock { $0.map(\.code) } }
}
