import Foundation
import NetworkLayer
import Testing

@testable import netlayer

@Suite struct ComparisonTests {
    private static func observation(
        _ name: String,
        _ responses: [(status: Int, fields: HTTPFields, body: String)],
        errors: [NetworkError] = []
    ) -> Observation {
        var observation = Observation(transport: name)
        for response in responses {
            let snapshot = Snapshot(
                status: response.status,
                headerFields: response.fields,
                body: Data(response.body.utf8)
            )
            observation.record(snapshot, after: .milliseconds(1))
        }
        for error in errors { observation.record(error) }
        return observation
    }

    private static let cookies: HTTPFields = {
        var fields: HTTPFields = [.server: "x"]
        fields.append(HTTPField(name: .setCookie, value: "a=1"))
        fields.append(HTTPField(name: .setCookie, value: "b=2"))
        return fields
    }()

    @Test func `percentiles are nearest rank`() {
        let percentile = Percentiles((1...20).reversed().map { .milliseconds($0) })
        #expect(percentile(50) == .milliseconds(10))
        #expect(percentile(95) == .milliseconds(19))
        #expect(percentile(99) == .milliseconds(20))
        #expect(percentile(0) == .milliseconds(1))
        #expect(percentile(100) == .milliseconds(20))
        #expect(Percentiles([.seconds(1)])(50) == .seconds(1))
        #expect(Percentiles([])(50) == nil)
    }

    @Test func `equal responses are alike whatever the date`() {
        let left = Self.observation("curl", [(200, [.date: "yesterday", .server: "x"], "body")])
        let right = Self.observation("urlsession", [(200, [.server: "x", .date: "today"], "body")])
        #expect(Differences(left, right).found.isEmpty)
        #expect(ComparisonReport(url: "u", observations: [left, right]).isAlike)
    }

    @Test func `different responses are told apart in words`() {
        let left = Self.observation("curl", [(200, [.server: "x", .via: "p"], "abc")])
        let right = Self.observation("urlsession", [(200, [.server: "y", .age: "1"], "abd")])
        #expect(
            Differences(left, right).found == [
                "header field 'age': only over urlsession",
                "header field 'server': 'x' over curl, 'y' over urlsession",
                "header field 'via': only over curl",
                "body: 3 bytes over both, different from byte 2 on",
            ]
        )
    }

    @Test func `bodies of different length name both lengths`() {
        let left = Self.observation("curl", [(200, [:], "abc")])
        let right = Self.observation("urlsession", [(200, [:], "")])
        #expect(
            Differences(left, right).found == [
                "body: 3 bytes over curl, 0 over urlsession, different from byte 0 on"
            ]
        )
    }

    @Test func `joined fields are told as such`() {
        let left = Self.observation("curl", [(200, Self.cookies, "")])
        let right = Self.observation("urlsession", [(200, [.server: "x", .setCookie: "a=1, b=2"], "")])
        #expect(
            Differences(left, right).found == [
                "header field 'set-cookie': 2 separate over curl, 1 over urlsession, the same when joined"
            ]
        )
    }

    @Test func `fields that change from request to request are not compared`() {
        let left = Self.observation("curl", [(200, [.eTag: "1"], "a"), (200, [.eTag: "2"], "b")])
        let right = Self.observation("urlsession", [(200, [.eTag: "3"], "c"), (200, [.eTag: "4"], "d")])
        let differences = Differences(left, right)
        #expect(differences.found.isEmpty)
        #expect(
            differences.notCompared == [
                "the header field 'etag' changes from request to request", "the body changes from request to request",
            ]
        )
    }

    @Test func `connection fields are told, and are no difference`() {
        let left = Self.observation("curl", [(200, [:], "")])
        let right = Self.observation("urlsession", [(200, [.connection: "keep-alive"], "")])
        let differences = Differences(left, right)
        #expect(differences.found.isEmpty)
        #expect(differences.notCompared == ["the header field 'connection' differs, and belongs to the connection"])
    }

    @Test func `statuses are compared, and the rest then is not`() {
        let left = Self.observation("curl", [(200, [.server: "x"], "a"), (404, [:], "a")])
        let right = Self.observation("urlsession", [(302, [:], "b")])
        #expect(Differences(left, right).found == ["status: 200 ×1, 404 ×1 over curl, 302 over urlsession"])
    }

    /// Regression: with several statuses only their set was compared, and "no differences" was said of the rest.
    @Test func `responses are compared with those of the same status`() {
        let left = Self.observation("curl", [(200, [.server: "x"], "a"), (404, [.server: "x"], "gone")])
        let right = Self.observation("urlsession", [(404, [.server: "y"], "lost"), (200, [.server: "x"], "a")])
        let report = ComparisonReport(url: "u", observations: [left, right])
        #expect(
            report.differences.found == [
                "status 404: header field 'server': 'x' over curl, 'y' over urlsession",
                "status 404: body: 4 bytes over both, different from byte 0 on",
            ])
        #expect(!report.isAlike)
        let same = Self.observation("urlsession", [(404, [.server: "x"], "gone"), (200, [.server: "x"], "a")])
        #expect(ComparisonReport(url: "u", observations: [left, same]).isAlike)
        #expect(Differences(left, same).notCompared.isEmpty)
    }

    @Test func `fields that are not compared are named`() {
        let left = Self.observation("curl", [(200, [:], "a"), (500, [:], "b"), (500, [:], "c")])
        let right = Self.observation("urlsession", [(404, [:], "b"), (500, [:], "b")])
        let differences = Differences(left, right)
        #expect(
            differences.found == ["status: 200 ×1, 500 ×2 over curl, 404 ×1, 500 ×1 over urlsession"])
        #expect(
            differences.notCompared == [
                "status 200: only over curl", "status 404: only over urlsession",
                "status 500: the body changes from request to request",
            ])
        let none = Self.observation("urlsession", [], errors: [NetworkError(.connectFailed, "refused")])
        #expect(Differences(left, none).notCompared == ["no response over urlsession"])
    }

    /// The first response of each status is kept, and a server may have many.
    @Test func `statuses beyond the limit are named`() {
        let many = (0..<20).map { (status: 200 + $0, fields: HTTPFields(), body: "a") }
        let differences = Differences(Self.observation("curl", many), Self.observation("urlsession", many))
        #expect(differences.found.isEmpty)
        #expect(differences.notCompared.count == 20 - Observation.maximumStatuses)
        #expect(differences.notCompared.first == "status 208: more than 8 statuses")
    }

    /// Equal for Swift, and not the same bytes.
    @Test func `values of other bytes are differences`() {
        let left = Self.observation("curl", [(200, [.server: "\u{E9}"], "")])
        let right = Self.observation("urlsession", [(200, [.server: "e\u{301}"], "")])
        #expect(Differences(left, right).found.count == 1)
        let changing = Self.observation("curl", [(200, [.server: "\u{E9}"], ""), (200, [.server: "e\u{301}"], "")])
        #expect(Differences(changing, changing).notCompared.count == 1)
    }

    @Test func `failures are differences, and are never alike`() {
        let refused = NetworkError(.connectFailed, "refused")
        let left = Self.observation("curl", [], errors: [refused, refused])
        let right = Self.observation("urlsession", [(200, [:], "")])
        #expect(Differences(left, right).found == ["errors: connectFailed ×2 over curl, none over urlsession"])
        #expect(!ComparisonReport(url: "u", observations: [left, left]).isAlike)
    }

    @Test func `transports take turns, and each sends its share`() async throws {
        let log = TurnLog()
        let comparison = Comparison(
            transports: ["left", "right"].map { LoggingTransport(name: $0, log: log) },
            requests: 5,
            concurrency: 2,
            options: TransportOptions()
        )
        let observations = try await comparison.observe(RequestURL("http://a/"))
        #expect(observations.map(\.durations.count) == [5, 5])
        let names = await log.names
        #expect(
            names == ["left", "left", "right", "right", "right", "right", "left", "left", "left", "right"]
        )
    }

    private actor TurnLog {
        private(set) var names: [String] = []
        func note(_ name: String) { names.append(name) }
    }

    private struct LoggingTransport: HTTPTransport {
        let name: String
        let log: TurnLog
        var capabilities: TransportCapabilities { .init(transport: name, basis: "test", supported: []) }

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            await log.note(name)
            return TransportResponse(
                head: HTTPResponse(status: .ok),
                body: TransportResponse.Body(Data()),
                metrics: TransportMetrics(total: .milliseconds(1))
            )
        }
    }
}
