import Foundation
import NetworkCore
import NetworkRecording
import TestSupport
import Testing

@Suite(.patience(minutes: 1))
struct HostileHARTests {
    private static let start =
        #"{"startedDateTime":"2026-11-24T10:00:00Z","time":1,"request":{"method":"GET","url":"http://h/","headers":[]}"#

    private static func document(_ members: String) -> String {
        #"{"log":{"version":"1.2","entries":[\#(start)\#(members)}]}}"#
    }

    @Test func `the least that an entry needs is read`() throws {
        let entry = try #require(
            try Recording(har: Self.document(#","response":{"status":200}"#)).entries.first)
        #expect(entry.response?.status == 200)
        #expect(entry.failure == nil)
        #expect(try Recording(har: Self.document("")).entries.first?.failure?.code == .connectionLost)
    }

    @Test(arguments: [
        ("", "not valid JSON"), ("[]", "the document: "), ("{}", "the document has no member 'log'"),
        (#"{"log":[]}"#, "log: "),
        (#"{"log":{}}"#, "log has no member 'entries'"),
        ("{\n\"log\":\n{]", "not valid JSON"),
        (#"{"log":{"entries":{}}}"#, "log.entries: "),
        (#"{"log":{"entries":[1]}}"#, "log.entries[0]: "),
        (#"{"log":{"entries":[{}]}}"#, "log.entries[0] has no member 'startedDateTime'"),
        (
            #"{"log":{"entries":[{"startedDateTime":"yesterday","request":{"method":"GET","url":""}}]}}"#,
            "log.entries[0].startedDateTime: not a date"
        ),
        (document(#","response":{"status":"200"}"#), "log.entries[0].response.status: "),
        (document(#","response":{"status":1e400}"#), "not valid JSON"),
        (document(#","response":{"status":99999999999999999999}"#), "response.status: not a status"),
        (document(#","response":{"status":20}"#), "response.status: not a status from 100 to 999"),
        (document(#","response":{"status":1000}"#), "response.status: not a status"),
        (document(#","response":{"status":200.5}"#), "response.status: not a status"),
        (
            document(#","response":{"status":200,"headers":[{"name":"a b","value":""}]}"#),
            "headers: number 0 is not a header field"
        ),
        (document(#","response":{"status":200,"headers":[{"name":"a"}]}"#), "headers: number 0 is not a header field"),
        (document(#","response":{"status":200,"content":{"text":1}}"#), "content.text: "),
        (
            document(#","response":{"status":200,"content":{"text":"%","encoding":"base64"}}"#),
            "content.text: not Base64"
        ),
        (document(#","response":{"status":200,"content":{"size":1e300}}"#), "content.size: not a whole number"),
        (document(#","response":{"status":200,"_chunks":[[1]]}"#), "_chunks: one is not a time and a size"),
        (
            document(#","response":{"status":200,"_chunks":[[1e99,1]]}"#),
            "_chunks: not a number of milliseconds"
        ),
        (document(#","response":{"status":200,"_chunks":[[1,9223372036854775807]]}"#), "_chunks: not a whole"),
        (
            document(
                #","response":{"status":200,"headers":[{"name":"a","value":""#
                    + String(repeating: #"x\n"#, count: 70_000) + #""}]}"#),
            "headers: number 0 is beyond 10000 fields"
        ),
        (document(#","_error":{"code":5}"#), "_error.code: "),
        (document(#","_metrics":{"total":1e99}"#), "_metrics.total: not a number of milliseconds"),
        (document(#","timings":{"dns":"fast"}"#), "timings.dns: "),
        (document(#","_redacted":"all""#), "_redacted: "),
        (String(repeating: "[", count: 100_000), "not valid JSON"),
        (#"{"log":{"entries":"# + String(repeating: #"{"a":"#, count: 1000), "not valid JSON"),
    ])
    func `a fault is an error that says where it is`(_ text: String, _ place: String) {
        do {
            _ = try Recording(har: text)
            Issue.record("an error is expected")
        } catch let error as NetworkError {
            #expect(error.code == .invalidRecording)
            #expect(error.message.contains(place), "\(error.message)")
        } catch {
            Issue.record("\(error)")
        }
    }

    @Test func `a document that ends at any byte is an error`() throws {
        let document = Array(Recording(entries: [HARTests.full]).harText(bodies: .all).utf8)
        let whole = document.dropLast()
        for count in whole.indices {
            expectFailure(.invalidRecording) { try Recording(har: Data(document[..<count])) }
        }
        #expect(throws: Never.self) { try Recording(har: Data(whole)) }
    }

    @Test(arguments: 0..<100)
    func `a damaged document is an error or a recording, never a trap`(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var document = Array(Recording(entries: [HARTests.full]).harText(bodies: .all).utf8)
        let pieces = ["-1", "1e308", "null", "\"", "{", "[]", "true", "99999999999999999999", ",", ":"].map {
            Array($0.utf8)
        }
        for _ in 0..<10 {
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let at = Int.random(in: 0..<document.count, using: &generator)
                let end = min(document.count, at + Int.random(in: 0...4, using: &generator))
                document.replaceSubrange(at..<end, with: pieces.randomElement(using: &generator) ?? [])
            }
            if let recording = try? Recording(har: Data(document)) {
                _ = recording.harText()
                _ = ReplayTransport(recording)
            }
        }
    }

    @Test func `numbers of the wrong kind in each place are errors or are read`() {
        let text = Recording(entries: [HARTests.full]).harText(bodies: .all)
        let numbers = [
            "-1", "1e308", "1e400", "-1e400", "0.5", "9223372036854775807", "null", "true", "\"x\"", "[]", "{}",
        ]
        let members = ["time", "status", "bodySize", "size", "_omitted", "_head", "total", "responseWireBytes", "wait"]
        for member in members {
            for number in numbers {
                let changed = text.replacing(try! Regex("\"\(member)\":[-0-9.]+"), with: "\"\(member)\":\(number)")
                if let recording = try? Recording(har: changed) { _ = recording.harText() }
            }
        }
    }

    @Test func `the size has a limit`() throws {
        let text = Recording(entries: [HARTests.full]).harText(bodies: .all)
        let error = expectFailure(.invalidRecording) { try Recording(har: text, maximumBytes: 100) }
        #expect(error?.message.contains("more than 100 bytes") == true)
        let folder = try TemporaryFolder()
        try Recording(entries: [HARTests.full]).write(to: folder.file(), bodies: .all)
        expectFailure(.invalidRecording) { try Recording(contentsOf: folder.file(), maximumBytes: 100) }
        #expect(try Recording(contentsOf: folder.file()).entries.count == 1)
        expectFailure(.unwritableFile) { try Recording().write(to: folder.file()) }
        expectFailure(.unreadableFile) { try Recording(contentsOf: folder.file("none")) }
        expectFailure(.unreadableFile) { try Recording(contentsOf: folder.path) }
        expectFailure(.unreadableFile) { try Recording(contentsOf: "/dev/zero") }
    }
}
