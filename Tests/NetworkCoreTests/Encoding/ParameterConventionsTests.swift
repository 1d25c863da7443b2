import Foundation

@testable import NetworkCore
import TestSupport
import Testing

@Suite(.patience(minutes: 1))
struct ParameterConventionsTests {
    private func query(
        _ params: [String: ParameterValue],
        _ change: (inout RequestData.Conventions) -> Void = { _ in }
    ) throws -> String? {
        var data = RequestData(path: "http://h/", parameters: params)
        change(&data.conventions)
        return try data.transportRequest().url.query
    }

    @Test(
        arguments: [
            (.repeated, "l=a&l=b%2Cc"), (.brackets, "l%5B%5D=a&l%5B%5D=b%2Cc"),
            (.indexed, "l%5B0%5D=a&l%5B2%5D=b%2Cc"), (.commas, "l=a,b%2Cc"),
        ] as [(RequestData.Conventions.Arrays, String)]
    )
    func `a list is written by its convention`(arrays: RequestData.Conventions.Arrays, expected: String) throws {
        #expect(try query(["l": ["a", nil, "b,c"], "none": []]) { $0.arrays = arrays } == expected)
    }

    @Test(
        arguments: [
            (.brackets, "u%5Bname%5D=A&u%5Bx%5D%5By%5D=1"), (.dots, "u.name=A&u.x.y=1"),
        ] as [(RequestData.Conventions.Objects, String)]
    )
    func `an object is written by its convention`(objects: RequestData.Conventions.Objects, expected: String) throws {
        #expect(try query(["u": ["x": ["y": 1], "name": "A"]]) { $0.objects = objects } == expected)
    }

    /// Regression: content of parameters was always written by the standard conventions.
    @Test func `content takes the conventions of its request, unless it has others`() async throws {
        func body(_ content: RequestContent) async throws -> String {
            var data = RequestData(path: "http://h/", method: .post, content: content)
            data.conventions.arrays = .commas
            data.conventions.dates = .seconds
            let body = try #require(try data.transportRequest().body)
            return String(decoding: try await body.collect(upTo: 100), as: UTF8.self)
        }
        #expect(try await body(.form(["a": ["b", "c"]])) == "a=b,c")
        #expect(try await body(.form(["a": ["b", "c"]], conventions: .standard)) == "a=b&a=c")
        #expect(try await body(.form(["a": ["b", "c"]]).reportingProgress { _ in }) == "a=b,c")
        let date = ParameterValue.date(Date(timeIntervalSince1970: 5))
        #expect(try await body(.json(parameters: ["d": date])) == #"{"d":5}"#)
        #expect(
            try await body(.json(parameters: ["d": date], conventions: .standard)) == #"{"d":"1970-01-01T00:00:05Z"}"#)
    }

    @Test func `a Boolean is written by its convention`() throws {
        #expect(try query(["a": true, "b": false]) == "a=true&b=false")
        #expect(try query(["a": true, "b": false]) { $0.booleans = .numbers } == "a=1&b=0")
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00Z", "0", "0"),
            (1_700_000_000, "2023-11-14T22:13:20Z", "1700000000", "1700000000000"),
            (1_700_000_000.5, "2023-11-14T22:13:20.500Z", "1700000000.5", "1700000000500"),
            (0.1, "1970-01-01T00:00:00.100Z", "0.1", "100"),
            (-0.75, "1969-12-31T23:59:59.250Z", "-0.75", "-750"),
            (253_402_300_799, "9999-12-31T23:59:59Z", "253402300799", "253402300799000"),
            // A date before 1582, when the Julian calendar differs, and a leap day.
            (-14_831_769_600, "1500-01-01T00:00:00Z", "-14831769600", "-14831769600000"),
            (-62_135_596_800, "0001-01-01T00:00:00Z", "-62135596800", "-62135596800000"),
            (1_709_164_800, "2024-02-29T00:00:00Z", "1709164800", "1709164800000"),
        ] as [(Double, String, String, String)]
    )
    func `a moment is written by its convention`(seconds: Double, iso: String, plain: String, milliseconds: String)
        throws
    {
        let params: [String: ParameterValue] = ["t": .date(Date(timeIntervalSince1970: seconds))]
        let decoded = try query(params)?.removingPercentEncoding
        #expect(decoded == "t=" + iso)
        #expect(try query(params) { $0.dates = .seconds } == "t=" + plain)
        #expect(try query(params) { $0.dates = .milliseconds } == "t=" + milliseconds)
    }

    /// Regression: it was written as the year 10000, which does not have four digits.
    @Test func `the last moment stays in its year`() throws {
        let last = Date(timeIntervalSince1970: 253_402_300_799.9996)
        #expect(try query(["t": .date(last)])?.removingPercentEncoding == "t=9999-12-31T23:59:59.999Z")
    }

    @Test func `each day is Foundation's`() {
        let style = Date.ISO8601FormatStyle()
        for day in stride(from: -140_000, through: 2_900_000, by: 97) {
            let seconds = day * 86_400 + 45_296
            #expect(
                CivilDate.text(milliseconds: seconds * 1000)
                    == style.format(Date(timeIntervalSince1970: Double(seconds))))
        }
    }

    @Test func `a moment is a JSON text or number`() throws {
        var data = RequestData(path: "http://h/", method: .post)
        data.parameters = ["t": ["at": [.date(Date(timeIntervalSince1970: 60))]]]
        #expect(try data.transportRequest().body?.knownBytes == Data(#"{"t":{"at":["1970-01-01T00:01:00Z"]}}"#.utf8))
        data.conventions.dates = .seconds
        #expect(try data.transportRequest().body?.knownBytes == Data(#"{"t":{"at":[60]}}"#.utf8))
    }

    @Test func `a moment out of range is refused by name`() throws {
        for date in [
            Date.distantPast - 1e11, Date(timeIntervalSince1970: .infinity), Date(timeIntervalSince1970: .nan),
        ] {
            for method in [HTTPRequest.Method.get, .post] {
                let data = RequestData(path: "http://h/", method: method, parameters: ["when": ["x": .date(date)]])
                let error = expectFailure(.invalidParameters) { try data.transportRequest() }
                #expect(error?.message.contains("'when.x'") == true)
                #expect(data.parameters != nil)
            }
        }
    }

    @Test func `a nested list has no place in a list with commas`() throws {
        let error = expectFailure(.invalidParameters) {
            try query(["a": ["l": [1, ["x": 2]]]]) { $0.arrays = .commas }
        }
        #expect(error?.message.contains("'a[l][1]'") == true)
    }

    @Test func `query and parameters are joined in order`() throws {
        var data = RequestData(
            path: "http://h/p?kept=%20+",
            method: .post,
            query: ["key": "k", "a": 1],
            parameters: ["b": 2]
        )
        var request = try data.transportRequest()
        #expect(request.url.query == "kept=%20+&a=1&key=k")
        #expect(request.body?.knownBytes == Data(#"{"b":2}"#.utf8))
        data.content = .text("x")
        request = try data.transportRequest()
        #expect(request.url.query == "kept=%20+&a=1&key=k&b=2")
        #expect(request.body?.knownBytes == Data("x".utf8))
        data.method = .get
        data.content = nil
        request = try data.transportRequest()
        #expect(request.url.query == "kept=%20+&a=1&key=k&b=2")
        #expect(request.body == nil)
    }

    /// Foundation reads the query here, since it shares no code with the encoder.
    @Test func `hostile texts come back from the query`() throws {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<500 {
            var params: [String: ParameterValue] = [:]
            var expected: [String: [String]] = [:]
            for _ in 0..<3 {
                let name = "n" + generator.hostileText(upTo: 8)
                let values = (0..<Int.random(in: 1...3, using: &generator)).map { _ in generator.hostileText(upTo: 20) }
                params[name] = .array(values.map { .string($0) })
                expected[name] = values
            }
            let text = try RequestData(path: "http://h/?old=1", parameters: params).transportRequest().url
                .absoluteString
            #expect(text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
            let items = try #require(URLComponents(string: text)?.queryItems)
            #expect(items.first == URLQueryItem(name: "old", value: "1"))
            let read = Dictionary(grouping: items.dropFirst(), by: \.name).mapValues { $0.map { $0.value ?? "" } }
            #expect(read == expected)
        }
    }

    @Test func `equal parameters have equal text`() throws {
        var generator = SeededGenerator(seed: 2)
        let names = (0..<40).map { _ in "n" + generator.hostileText(upTo: 5) }
        let first = try query(Dictionary(names.map { ($0, .int(1)) }) { $1 })
        let second = try query(Dictionary(names.reversed().map { ($0, .int(1)) }) { $1 })
        #expect(first == second)
    }
}
