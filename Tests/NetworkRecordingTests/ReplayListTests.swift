import Foundation
import NetworkCore
import TestSupport
import Testing

@testable import NetworkRecording

@Suite(.patience(minutes: 1))
struct ReplayListTests {
    /// A recording of a load test has one URL thousands of times.
    @Test(arguments: [false, true]) func `the cost of a request does not grow with those before it`(isRepeated: Bool) {
        let entry = Recording.Entry(request: .init(url: "http://h/a"))
        func work(_ count: Int) -> Duration {
            let recording = Recording(entries: Array(repeating: entry, count: isRepeated ? 1 : count))
            let empty = ReplayList(recording, repeatsLast: isRepeated)
            return cost(rounds: 3) {
                var list = empty
                let taken = (0..<count).count { _ in list.take([.init(entry.request, isStrict: false)]) != nil }
                #expect(taken == count)
            }
        }
        let (small, large) = (work(500), work(8000))
        // Quadratic, it would be 256 times.
        #expect(large < small * 40, "\(small) and \(large)")
    }

    /// Regression: each request was compared with every entry of its URL that was left.
    @Test func `strict matching in another order than recorded costs no more with more entries`() {
        func work(_ count: Int) -> Duration {
            let entries = (0..<count).map { Recording.Entry(request: request("body \($0)", boundary: "b")) }
            return cost(rounds: 3) {
                var list = ReplayList(Recording(entries: entries), repeatsLast: false, isStrict: true)
                let taken = entries.reversed().count { list.take([.init($0.request, isStrict: true)]) != nil }
                #expect(taken == count)
            }
        }
        let (small, large) = (work(100), work(1_600))
        // Quadratic, it would be 256 times.
        #expect(large < small * 40, "\(small) and \(large)")
    }

    /// Regression: every request without an entry was kept.
    @Test func `the list of requests without an entry is bounded`() {
        var list = ReplayList(Recording(entries: [.init(request: .init(url: "http://h/a"))]), repeatsLast: false)
        for _ in 0..<1_000 { _ = list.miss(.init(url: "http://h/b")) }
        #expect(list.problems.count == 1_001 && list.problems.last == "GET http://h/a was recorded and not sent")
        for _ in 0..<1_000 { _ = list.miss(.init(url: "http://h/b")) }
        #expect(list.problems.count == 1_002)
        #expect(list.problems.first == "GET http://h/b was sent and is not recorded")
        #expect(list.problems.last == "and 1000 more, sent and not recorded")
    }

    /// Regression: the URL of each entry was parsed for each request without an entry, and all of them were sorted.
    @Test func `a request without an entry costs less than the URLs of a long recording`() {
        let entries = (0..<20_000).map { Recording.Entry(request: .init(url: "http://h/\($0)")) }
        let parsing = cost(rounds: 2) { for entry in entries { _ = RequestComparison.key(of: entry.request) } }
        var list = ReplayList(Recording(entries: entries), repeatsLast: false)
        let isCostly = costsMore(than: parsing * 100) {
            for _ in 0..<100 { _ = list.miss(.init(url: "http://h/b")) }
        }
        #expect(!isCostly)
        let first = list.miss(.init(url: "http://h/b"))
        for words in ["GET http://h/0 (another URL); GET http://h/1 (another URL)", "and 19997 others"] {
            #expect(first.message.contains(words), "\(first.message)")
        }
        // One of the same URL is found wherever it is.
        let last = list.miss(.init(url: "http://h/19999"))
        #expect(last.message.contains("GET http://h/19999 (given already); GET http://h/0 (another URL)"))
    }

    private func request(_ bytes: String, boundary: String) -> Recording.Request {
        let fields: HTTPFields = [.contentType: "multipart/form-data; boundary=\(boundary)"]
        return .init(method: .post, url: "http://h/", headerFields: fields, body: .init(Data(bytes.utf8)))
    }

    /// Regression: each byte of a body was compared with all of a boundary, however long.
    @Test func `a boundary that is too long is not looked for`() {
        func difference(_ bytes: Int) -> String? {
            let (one, other) = (String(repeating: "a", count: bytes), String(repeating: "b", count: bytes))
            return RequestComparison.difference(
                request("--\(one)--", boundary: one), request("--\(other)--", boundary: other))
        }
        #expect(difference(70) == nil)
        #expect(difference(71) == "another field content-type")
        func work(_ count: Int) -> Duration {
            let hyphens = String(repeating: "-", count: count)
            let long = request(hyphens, boundary: hyphens)
            return cost(rounds: 3) { #expect(RequestComparison.difference(long, long) == nil) }
        }
        let (small, large) = (work(500), work(4_000))
        // Quadratic, it would be 64 times.
        #expect(large < small * 24, "\(small) and \(large)")
    }
}
