import Foundation
import NetworkCore
import TestSupport
import Testing

@testable import NetworkRecording

@Suite(.patience(minutes: 1))
struct HARTests {
    /// An entry that uses every member.
    static var full: Recording.Entry {
        var metrics = TransportMetrics(total: .milliseconds(12))
        metrics.nameLookup = .milliseconds(1)
        metrics.connect = .microseconds(2500)
        metrics.tls = .milliseconds(3)
        metrics.firstByte = .milliseconds(8)
        metrics.connectionReused = false
        metrics.httpVersion = "1.1"
        metrics.remoteAddress = "[::1]:443"
        metrics.responseWireBytes = 3
        var fields: HTTPFields = [.contentType: "text/plain"]
        fields.append(HTTPField(name: HTTPField.Name("x-B")!, value: "1"))
        fields.append(HTTPField(name: HTTPField.Name("X-a")!, value: "ä"))
        fields.append(HTTPField(name: HTTPField.Name("X-b")!, value: "2"))
        var entry = Recording.Entry(
            started: Date(timeIntervalSince1970: 1_800_000_000.125),
            request: .init(
                method: .post, url: "http://h/?a=1%20b&c", headerFields: fields,
                body: .init(Data([0xFF, 0, 1]), omitted: 7)),
            response: .init(
                status: 207, reason: "Many", headerFields: fields, body: .init(Data("a\u{0}\u{2028}\"\\ä".utf8)),
                chunks: [.init(time: .milliseconds(9), count: 3), .init(time: .milliseconds(11), count: 4)],
                trailers: [HTTPField.Name("X-T")!: "t"], headTime: .microseconds(8250)),
            failure: .init(code: .truncatedBody, message: "cut", phase: .receiving, time: .milliseconds(12)),
            metrics: metrics, transport: "curl")
        entry.isIncomplete = true
        entry.redacted = [.url, .trailers]
        return entry
    }

    /// Regression: the sum of two durations overflowed, which ended the process.
    @Test func `durations of any length are written`() {
        let long = Duration.seconds(1e20)
        var metrics = TransportMetrics(total: .zero - long)
        (metrics.queued, metrics.nameLookup, metrics.connect) = (long, long, long)
        (metrics.tls, metrics.firstByte) = (long, long)
        let entry = Recording.Entry(request: .init(url: "http://h/"), metrics: metrics)
        #expect(!Recording(entries: [entry]).harText(bodies: .all).isEmpty)
    }

    @Test func `an entry is read as it was written`() throws {
        let entry = Self.full
        let read = try #require(try Recording(har: Recording(entries: [entry]).harText(bodies: .all)).entries.first)
        #expect(read.started == entry.started && read.transport == "curl" && read.isIncomplete)
        #expect(read.request.method == entry.request.method && read.request.url == entry.request.url)
        #expect(read.request.body == entry.request.body && read.response?.body == entry.response?.body)
        for (fields, own) in [
            (read.request.headerFields, entry.request.headerFields),
            (read.response?.headerFields ?? [:], entry.response?.headerFields ?? [:]),
            (read.response?.trailers ?? [:], entry.response?.trailers ?? [:]),
        ] {
            #expect(!own.isEmpty && fields.lines == own.lines)
        }
        #expect(read.response?.status == 207 && read.response?.reason == "Many")
        #expect(read.response?.chunks == entry.response?.chunks && read.response?.headTime == entry.response?.headTime)
        #expect(read.failure == entry.failure && read.metrics == entry.metrics && read.redacted == entry.redacted)
    }

    /// The members that the JSON schema of HAR 1.2 requires.
    private static let required: [(path: [String], members: [String])] = [
        ([], ["startedDateTime", "time", "request", "response", "cache", "timings"]),
        (
            ["request"],
            ["method", "url", "httpVersion", "cookies", "headers", "queryString", "headersSize", "bodySize"]
        ),
        (
            ["response"],
            [
                "status", "statusText", "httpVersion", "cookies", "headers", "content", "redirectURL", "headersSize",
                "bodySize",
            ]
        ),
        (["response", "content"], ["size", "mimeType"]), (["request", "postData"], ["mimeType"]),
        (["timings"], ["send", "wait", "receive"]),
    ]

    @Test func `all members that HAR requires are there`() throws {
        let bare = Recording.Entry(request: .init(url: "http://h/", body: .init()))
        for entry in [Self.full, bare] {
            let text = Recording(entries: [entry]).harText(bodies: .all)
            let document = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
            let log = try #require(document["log"] as? [String: Any])
            #expect(log["version"] as? String == "1.2")
            #expect((log["creator"] as? [String: Any])?["version"] as? String == NetworkLayerVersion.current)
            let written = try #require((log["entries"] as? [[String: Any]])?.first)
            for (path, members) in Self.required {
                let object = path.reduce(written as [String: Any]?) { $0?[$1] as? [String: Any] }
                let keys = try #require(object?.keys)
                #expect(Set(members).isSubset(of: keys), "\(path)")
            }
        }
    }

    @Test func `durations have HAR's meaning`() throws {
        let text = Recording(entries: [Self.full]).harText(bodies: .all)
        // `connect` includes `ssl`, and what is unknown is -1.
        let timings = #""timings":{"blocked":-1,"connect":5.5,"dns":1,"receive":4,"send":0,"ssl":3,"wait":1.5}"#
        #expect(text.contains(timings), "\(text)")
        #expect(text.contains(#""serverIPAddress":"::1""#))
        #expect(text.contains(#""queryString":[{"name":"a","value":"1 b"},{"name":"c","value":""}]"#))
        #expect(text.contains(#""startedDateTime":"2027-01-15T08:00:00.125Z""#))
    }

    @Test(
        arguments: [
            ("2026-11-24T10:00:00Z", 1_795_514_400.0), ("2026-11-24T11:00:00.250+01:00", 1_795_514_400.25),
            ("2026-11-24T04:30:00.1234567-0530", 1_795_514_400.1234567), ("2026-11-24 10:00:00Z", nil),
            ("2026-11-24T10:00:00", nil), ("", nil), ("2026-11-24T10:00:00.Z", nil), ("2026-11-24T10:00:00+ab", nil),
            ("9999-99-99T99:99:99Z", nil),
        ] as [(String, Double?)])
    func `dates are read`(_ text: String, _ expected: Double?) throws {
        let document =
            #"{"log":{"entries":[{"startedDateTime":"\#(text)","request":{"method":"GET","url":"http://h/"}}]}}"#
        let date = try? Recording(har: document).entries.first?.started.timeIntervalSince1970
        #expect((date == nil) == (expected == nil))
        if let date, let expected { #expect(abs(date - expected) < 0.0001) }
    }

    @Test(
        arguments: [
            (.nan, "1970-01-01T00:00:00Z"), (-1e300, "0001-01-01T00:00:00Z"), (-.infinity, "0001-01-01T00:00:00Z"),
            (1e300, "9999-12-31T23:59:59Z"), (.infinity, "9999-12-31T23:59:59Z"),
        ] as [(Double, String)])
    func `a date that is none, or beyond the calendar, is written as one`(_ time: Double, _ text: String) throws {
        let entry = Recording.Entry(started: Date(timeIntervalSince1970: time), request: .init(url: "http://h/"))
        let document = Recording(entries: [entry]).harText()
        #expect(document.contains("\"startedDateTime\":\"\(text)\""), "\(document)")
        #expect(try Recording(har: document).entries.count == 1)
    }
}
