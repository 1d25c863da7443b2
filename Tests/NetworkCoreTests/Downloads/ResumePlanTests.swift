import Foundation
import Testing

@testable import NetworkCore

struct ResumePlanTests {
    private let source: RequestURL
    private let record: PartialRecord

    init() throws {
        source = try RequestURL("http://127.0.0.1/")
        record = PartialRecord(
            url: "http://127.0.0.1/", validator: "\"v1\"", total: 100)
    }

    /// The reaction to a response from the URL of the start.
    private func reaction(_ plan: ResumePlan, to head: HTTPResponse) -> ResumePlan.Reaction {
        plan.reaction(to: head, from: source)
    }

    private static let then = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let later = "Sun, 06 Nov 1994 08:49:38 GMT"

    private func head(_ status: Int, _ fields: [(String, String)] = []) throws -> HTTPResponse {
        var head = HTTPResponse(status: .init(code: status))
        for (name, value) in fields { head.headerFields.append(try HTTPField(checking: name, value: value)) }
        return head
    }

    @Test func `a request asks for the rest if it is the same`() throws {
        var request = TransportRequest(url: try RequestURL("http://127.0.0.1/"))
        ResumePlan(length: 40, record: record).apply(to: &request)
        #expect(request.headerFields[.range] == "bytes=40-")
        #expect(request.headerFields[.ifRange] == "\"v1\"")
    }

    /// Regression: a record with such a length ended the process.
    @Test(arguments: [Int.min, -1, 0, Int.max]) func `a record of an odd length is no ground`(total: Int) throws {
        let plan = ResumePlan(
            length: 40,
            record: PartialRecord(url: "http://127.0.0.1/", validator: "\"v1\"", total: total))
        let part = try head(206, [("Content-Range", "bytes 40-99/*"), ("ETag", "\"v1\"")])
        #expect(reaction(plan, to: part) == .startAgain)
        #expect(try head(200, [("Content-Length", "-5")]).wholeLength == nil)
    }

    @Test(arguments: [(0, true), (40, false), (0, false)])
    func `a request asks for all without bytes or record`(length: Int, hasRecord: Bool) throws {
        let plan = ResumePlan(length: length, record: hasRecord ? record : nil)
        var request = TransportRequest(url: try RequestURL("http://127.0.0.1/"))
        plan.apply(to: &request)
        #expect(request.headerFields.isEmpty)
        for status in [200, 206, 416, 500] { #expect(reaction(plan, to: try head(status)) == .writeWhole) }
    }

    @Test(
        arguments: [
            (206, [("Content-Range", "bytes 40-99/100"), ("ETag", "\"v1\"")], .append(total: 100)),
            (206, [("Content-Range", "bytes 40-99/*"), ("ETag", "\"v1\"")], .append(total: 100)),
            // A part carries the entity tag of the whole (RFC 9110 §15.3.7).
            (206, [("Content-Range", "bytes 40-99/100")], .startAgain),
            (
                206,
                [
                    ("Content-Range", "bytes 40-99/100"), ("ETag", "\"v1\""),
                    ("Content-Type", "multipart/byteranges; boundary=x"),
                ], .startAgain
            ),
            (206, [("Content-Range", "bytes 40-99/100"), ("Last-Modified", then)], .startAgain),
            (206, [("Content-Range", "bytes 40-99/100"), ("ETag", "\"v1\""), ("ETag", "\"v2\"")], .startAgain),
            (206, [("Content-Range", "bytes 40-99/100"), ("ETag", "\"v2\"")], .startAgain),
            (206, [("Content-Range", "bytes 40-99/100"), ("ETag", "W/\"v1\"")], .startAgain),
            (206, [("Content-Range", "bytes 40-50/*"), ("ETag", "\"v1\"")], .startAgain),
            (206, [("Content-Range", "bytes 41-99/100"), ("ETag", "\"v1\"")], .startAgain),
            (206, [("Content-Range", "bytes 0-99/100"), ("ETag", "\"v1\"")], .startAgain),
            (206, [("Content-Range", "bytes 40-50/100"), ("ETag", "\"v1\"")], .startAgain),
            (206, [("Content-Range", "bytes 40-199/200"), ("ETag", "\"v1\"")], .startAgain),
            (
                206, [("Content-Range", "bytes 40-99/100"), ("ETag", "\"v1\""), ("Content-Encoding", "gzip")],
                .startAgain
            ),
            (206, [("Content-Type", "multipart/byteranges; boundary=x"), ("ETag", "\"v1\"")], .startAgain),
            (206, [("Content-Range", "lines 40-99/100"), ("ETag", "\"v1\"")], .startAgain),
            (206, [("ETag", "\"v1\"")], .startAgain), (206, [], .startAgain),
            (200, [], .writeWhole), (404, [], .writeWhole),
            (416, [("Content-Range", "bytes */100")], .startAgain), (416, [], .startAgain),
        ] as [(Int, [(String, String)], ResumePlan.Reaction)]
    )
    func `the response decides`(status: Int, fields: [(String, String)], expected: ResumePlan.Reaction) throws {
        #expect(reaction(ResumePlan(length: 40, record: record), to: try head(status, fields)) == expected)
    }

    /// Regression: any piece counted as the rest.
    @Test func `a piece of a file without a known length is not the rest`() throws {
        let plan = ResumePlan(
            length: 40,
            record: PartialRecord(url: "http://127.0.0.1/", validator: "\"v1\""))
        let tag = ("ETag", "\"v1\"")
        #expect(reaction(plan, to: try head(206, [("Content-Range", "bytes 40-99/*"), tag])) == .startAgain)
        #expect(reaction(plan, to: try head(206, [("Content-Range", "bytes 40-99/100"), tag])) == .append(total: 100))
    }

    /// Regression: the rest of a changed file was appended to the start of the old one.
    @Test func `a rest with another date is not the rest`() throws {
        let (old, new) = ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:38 GMT")
        let plan = ResumePlan(
            length: 40,
            record: PartialRecord(url: "http://127.0.0.1/", validator: old, total: 100))
        let range = ("Content-Range", "bytes 40-99/100")
        #expect(reaction(plan, to: try head(206, [range])) == .append(total: 100))
        #expect(reaction(plan, to: try head(206, [range, ("Last-Modified", old)])) == .append(total: 100))
        #expect(reaction(plan, to: try head(206, [range, ("Last-Modified", new)])) == .startAgain)
        // The first response had no tag, so a response with one belongs to another file.
        #expect(reaction(plan, to: try head(206, [range, ("ETag", "\"v2\"")])) == .startAgain)
    }

    @Test func `a whole file in place of a part is no other version`() throws {
        let plan = ResumePlan(length: 100, record: record)
        let range = ("Content-Range", "bytes */100")
        #expect(reaction(plan, to: try head(416, [range, ("ETag", "\"v1\"")])) == .isComplete)
        #expect(reaction(plan, to: try head(416, [range, ("ETag", "\"v2\"")])) == .startAgain)
    }

    /// Regression: two files whose URLs differ only in the query were combined into one.
    @Test(
        arguments: [
            ("?id=1", "?id=1", true), ("?id=1", "?id=2", false), ("?id=1", "", false), ("", "?id=1", false),
            ("", "", true), ("", "?", true), ("?X-Amz-Signature=a&id=1&X-Amz-Date=b", "?id=1&x-amz-signature=c", true),
            ("?Signature=a&Expires=1", "?Expires=2&Signature=b", true),
            ("?X-Amz-Date=a&id=1", "?X-Amz-Date=a&id=2", false),
        ]
    )
    func `a record is of one query`(first: String, second: String, isSame: Bool) throws {
        let request = TransportRequest(url: try RequestURL("http://127.0.0.1/a" + first))
        let record = try #require(
            PartialRecord(of: try head(200, [("ETag", "\"a\"")]), for: request, from: request.url))
        #expect(record.isOf(try RequestURL("http://127.0.0.1/a" + second)) == isSame)
        #expect(!record.isOf(try RequestURL("http://127.0.0.1/b" + first)))
    }

    /// Regression: the rest of a file was appended to the page of an error.
    @Test(arguments: [(200, true), (201, false), (203, false), (404, false), (500, false)])
    func `a representation of another status than 200 has no record`(status: Int, hasRecord: Bool) throws {
        let request = TransportRequest(url: source)
        let record = PartialRecord(of: try head(status, [("ETag", "\"a\"")]), for: request, from: source)
        #expect((record != nil) == hasRecord)
    }

    /// Regression: two files with the same entity tag, behind one redirect, became one.
    @Test(arguments: [
        ("http://127.0.0.1/", true), ("http://127.0.0.1/?X-Amz-Signature=a", true), ("http://127.0.0.1/?v=2", false),
        ("http://127.0.0.1/v2", false), ("http://127.0.0.2/", false), ("https://127.0.0.1/", false),
    ])
    func `the rest comes from where the start came from`(_ url: String, _ isSame: Bool) throws {
        let other = try RequestURL(url)
        let part = try head(206, [("Content-Range", "bytes 40-99/100"), ("ETag", "\"v1\"")])
        let plan = ResumePlan(length: 40, record: record)
        #expect(plan.reaction(to: part, from: other) == (isSame ? .append(total: 100) : .startAgain))
        let end = try head(416, [("Content-Range", "bytes */100")])
        let whole = ResumePlan(length: 100, record: record)
        #expect(whole.reaction(to: end, from: other) == (isSame ? .isComplete : .startAgain))
        #expect(plan.reaction(to: try head(200), from: other) == .writeWhole)
    }

    @Test func `a record knows the place that a redirect led to`() throws {
        let request = TransportRequest(url: try RequestURL("http://127.0.0.1/latest"))
        let (one, other) = (try RequestURL("http://127.0.0.1/1?Signature=a"), try RequestURL("http://127.0.0.1/2"))
        let head = try head(200, [("ETag", "\"a\"")])
        let moved = try #require(PartialRecord(of: head, for: request, from: one))
        #expect(moved.isOf(request.url) && moved.isFrom(one) && !moved.isFrom(other) && !moved.isFrom(request.url))
        let own = try #require(PartialRecord(of: head, for: request, from: request.url))
        #expect(own.source == nil && own.isFrom(request.url) && !own.isFrom(one))
    }

    @Test func `an unsatisfiable range is the end when everything is here`() throws {
        let plan = ResumePlan(length: 100, record: record)
        #expect(reaction(plan, to: try head(416, [("Content-Range", "bytes */100")])) == .isComplete)
        #expect(reaction(plan, to: try head(416, [("Content-Range", "bytes */99")])) == .startAgain)
        #expect(reaction(plan, to: try head(416)) == .startAgain)
    }

    @Test(
        arguments: [
            ("bytes 0-0/1", 0, 0, 1), ("Bytes 5-9/*", 5, 9, nil), ("bytes */7", nil, nil, 7),
            ("bytes */*", nil, nil, nil),
        ] as [(String, Int?, Int?, Int?)]
    )
    func `a content range is read`(text: String, first: Int?, last: Int?, total: Int?) throws {
        let range = try #require(ContentRange(text))
        #expect(range.first == first && range.last == last && range.total == total)
    }

    @Test(
        arguments: [
            "", "bytes", "bytes 1-2", "bytes 2-1/5", "bytes 0-5/5", "bytes -1-2/5", "bytes +0-2/5", "bytes 0-2/5/6",
            "bytes 0-99999999999999999999/*", "bytes 0x1-2/5", "bytes 1-/5",
        ]
    )
    func `a content range that contradicts itself is none`(text: String) { #expect(ContentRange(text) == nil) }

    @Test(
        arguments: [
            ([("ETag", "\"a\"")], "\"a\""), ([("ETag", "W/\"a\"")], nil), ([("ETag", "a")], nil),
            ([("ETag", "W/\"a\""), ("Last-Modified", then), ("Date", later)], nil),
            ([("Last-Modified", then), ("Date", later)], then),
            ([("Last-Modified", then), ("Date", then)], nil),
            // The same time in another form, a time in the future, and values that are no date.
            ([("Last-Modified", then), ("Date", "Sun Nov  6 08:49:37 1994")], nil),
            ([("Last-Modified", later), ("Date", then)], nil),
            ([("Last-Modified", "then"), ("Date", later)], nil), ([("Last-Modified", then), ("Date", "now")], nil),
            ([("Last-Modified", then)], nil), ([("ETag", "\"a\""), ("Content-Encoding", "gzip")], nil),
            ([("ETag", "\"a\""), ("Content-Encoding", "identity")], "\"a\""), ([], nil),
        ] as [([(String, String)], String?)]
    )
    func `a record needs a strong validator`(fields: [(String, String)], validator: String?) throws {
        let request = TransportRequest(url: try RequestURL("http://127.0.0.1/a?key=secret"))
        let record = PartialRecord(
            of: try head(200, fields + [("Content-Length", "7")]), for: request, from: request.url)
        #expect(record?.validator == validator)
        if let record { #expect(record.url == "http://127.0.0.1/a" && record.total == 7) }
    }
}
