import Foundation
import NetworkCore
import TestSupport
import Testing

@Suite(.patience(minutes: 1))
struct ParameterValueTests {
    private struct Unknown {}
    private enum Color: String { case red }

    /// Regression: each value that is left out had its name made, a megabyte each time.
    @Test func `what is left out of a query costs nothing`() throws {
        let name = String(repeating: "n", count: 1 << 20)
        let nothing = Dictionary(uniqueKeysWithValues: (0..<100_000).map { ("k\($0)", ParameterValue.null) })
        let request = RequestData(path: "http://h/", parameters: [name: .object(nothing)])
        #expect(try request.transportRequest().url.absoluteString == "http://h/")
        let empty = nothing.mapValues { _ in ParameterValue.array([]) }
        expectFailure(.invalidURL) {
            try RequestData(path: "http://h/", parameters: [name: .object(empty)]).transportRequest()
        }
    }

    @Test func `any value becomes its kind`() {
        #expect(ParameterValue(nil) == .null)
        #expect(ParameterValue(NSNull()) == .null)
        #expect(ParameterValue(Int?.none as Any) == .null)
        #expect(ParameterValue("a" as String? as Any) == .string("a"))
        #expect(ParameterValue(true) == .bool(true))
        #expect(ParameterValue(7) == .int(7))
        #expect(ParameterValue(Int8(-7)) == .int(-7))
        #expect(ParameterValue(UInt64.max) == .unsigned(.max))
        #expect(ParameterValue(UInt16(7)) == .int(7))
        #expect(ParameterValue(2.5) == .double(2.5))
        #expect(ParameterValue(Float(0.1)) == .double(0.1))
        #expect(ParameterValue(Float16(0.1)) == .double(0.1))
        #expect(ParameterValue(Decimal(string: "1.25")) == .double(1.25))
        #expect(ParameterValue("ab".dropFirst()) == .string("b"))
        #expect(ParameterValue(Character("c")) == .string("c"))
        #expect(ParameterValue(URL(string: "http://h/a")) == .string("http://h/a"))
        let moment = Date(timeIntervalSince1970: 1)
        #expect(ParameterValue(moment) == .date(moment))
        let id = UUID()
        #expect(ParameterValue(id) == .string(id.uuidString))
        #expect(ParameterValue(ParameterValue.int(1)) == .int(1))
    }

    /// Regression: the numbers 0 and 1 of `JSONSerialization` became booleans.
    @Test func `Foundation's numbers are what they were made of`() throws {
        let json = #"{"one":1,"zero":0,"yes":true,"no":false,"d":1.0,"x":0.1,"most":18446744073709551615,"n":null}"#
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        let expected: ParameterValue = [
            "one": 1, "zero": 0, "yes": true, "no": false, "d": 1.0, "x": 0.1, "most": .unsigned(.max), "n": nil,
        ]
        #expect(ParameterValue(object) == expected)
        #expect(ParameterValue(NSDictionary(dictionary: object)) == expected)
        #expect(ParameterValue(NSArray(array: [1, true, "a", NSNull()])) == [1, true, "a", nil])
        for (number, value) in [
            (NSNumber(value: 0), .int(0)), (NSNumber(value: 1), .int(1)), (NSNumber(value: -1), .int(-1)),
            (NSNumber(value: true), .bool(true)), (NSNumber(value: false), .bool(false)),
            (NSNumber(value: UInt8(1)), .int(1)), (NSNumber(value: Int8(0)), .int(0)),
            (NSNumber(value: 1.0), .double(1)),
            (NSNumber(value: 0.0), .double(0)), (NSNumber(value: Float(0.1)), .double(0.1)),
            (NSNumber(value: Int.min), .int(.min)), (NSNumber(value: UInt64.max), .unsigned(.max)),
            (NSNumber(value: 1e300), .double(1e300)), (NSDecimalNumber(string: "1.25"), .double(1.25)),
        ] as [(NSNumber, ParameterValue)] {
            #expect(ParameterValue(number) == value, "\(number)")
            #expect(ParameterValue(number as NSNumber? as Any) == value, "\(number) in an optional")
            #expect(ParameterValue([number]) == .array([value]), "\(number) in an array")
            #expect(ParameterValue(AnyHashable(number)) == value, "\(number) in an AnyHashable")
        }
        #expect(ParameterValue(true as Bool? as Any) == .bool(true))
        #expect(ParameterValue(AnyHashable(1)) == .int(1))
        #expect(ParameterValue(AnyHashable(true)) == .bool(true))
    }

    /// Regression: they were converted by way of Double.
    @Test(arguments: [
        "12345678901234567890.12345", "0.12345678901234567891", "-9007199254740993", "18446744073709551616", "1.10",
        "1e100",
        "123456789.123456789123456789", "0.1", "-2.5", "3",
    ])
    func `decimals keep their digits`(text: String) throws {
        let decimal = try #require(Decimal(string: text))
        for value in [decimal, NSDecimalNumber(decimal: decimal)] as [Any] {
            let query = try RequestData(path: "http://h/", parameters: ["d": value]).transportRequest().url.query
            let sent = try #require(query?.removingPercentEncoding).dropFirst(2)
            #expect(Decimal(string: String(sent)) == decimal)
            let body = try RequestData(path: "http://h/", method: .post, parameters: ["d": value]).transportRequest()
                .body
            let decoded = try JSONDecoder().decode([String: Decimal].self, from: try #require(body?.knownBytes))
            #expect(decoded["d"] == decimal)
        }
        expectFailure(.invalidParameters) {
            try RequestData(path: "http://h/", parameters: ["d": Decimal.nan]).transportRequest()
        }
    }

    /// Regression: they were written as a `Double` is: `3.0` and `1e+22`.
    @Test(arguments: [
        "3", "-3", "0", "100", "18446744073709551615", "10000000000000000000000", "0.1", "-2.5", "0.0000001",
    ])
    func `a decimal is written in plain digits`(text: String) throws {
        let decimal = try #require(Decimal(string: text))
        for value in [decimal, NSDecimalNumber(decimal: decimal)] as [Any] {
            let request = RequestData(path: "http://h/", parameters: ["d": value])
            #expect(try request.transportRequest().url.query == "d=\(text)")
        }
    }

    @Test func `a whole decimal is a whole number in JSON`() throws {
        for (text, value) in [("100", ParameterValue.int(100)), ("18446744073709551615", .unsigned(.max))] {
            let decimal = try #require(Decimal(string: text))
            #expect(ParameterValue(decimal) == value)
            let body = try RequestData(path: "http://h/", method: .post, parameters: ["d": decimal]).transportRequest()
                .body
            #expect(body?.knownBytes == Data("{\"d\":\(text)}".utf8))
        }
    }

    @Test func `nested values become their kinds`() {
        let list: [Any?] = [1, "a", nil, [true], ["k": 2.5]]
        #expect(
            ParameterValue(list) == .array([.int(1), .string("a"), .null, .array([.bool(true)]), ["k": 2.5]])
        )
        #expect(ParameterValue(["a": nil, "b": [1, 2]] as [String: Any?]) == ["a": nil, "b": [1, 2]])
        #expect(ParameterValue([Int]()) == .array([]))
        #expect(ParameterValue([String: Int]()) == .object([:]))
    }

    @Test func `a value that JSON lacks is unencodable with its type`() throws {
        for (value, name) in [
            (Unknown(), "Unknown"), (Color.red, "Color"), (Data([1]), "Data"),
            ([1: "a"], "[Int: String]"),
        ] as [(any Sendable, String)] {
            guard case .unencodable(let type) = ParameterValue(value) else {
                Issue.record("\(value) was accepted")
                continue
            }
            #expect(type == name)
        }
    }

    @Test func `literals are values`() {
        let value: ParameterValue = ["page": 1, "q": nil, "tags": ["a"], "deep": ["x": [true, 2.5, "\(1 + 1)"]]]
        #expect(
            value
                == .object([
                    "page": .int(1), "q": .null, "tags": .array([.string("a")]),
                    "deep": .object(["x": .array([.bool(true), .double(2.5), .string("2")])]),
                ])
        )
        let twice: ParameterValue = ["a": 1, "a": 2]
        #expect(twice == .object(["a": .int(2)]))
    }

    @Test func `a plain value is what JSON serialization takes`() throws {
        let data = RequestData(path: "http://h/", method: .post, parameters: ["a": 1, "b": nil, "c": ["x", true]])
        let params = try #require(data.parameters).mapValues(\.plainValue)
        #expect(params["a"] as? Int == 1)
        #expect(params["c"] as? [(any Sendable)?] != nil)
        let bytes = try JSONSerialization.data(withJSONObject: params.compactMapValues { $0 })
        #expect(try JSONSerialization.jsonObject(with: bytes) is [String: Any])
    }

    @Test func `the depth has a limit`() {
        var value: Any = 1
        for _ in 0..<200 { value = [value] }
        let request = RequestData(path: "http://h/", method: .post, parameters: ["deep": value])
        expectFailure(.invalidParameters) { try request.transportRequest() }
        var typed = ParameterValue.int(1)
        for _ in 0..<200 { typed = .array([typed]) }
        expectFailure(.invalidParameters) {
            try RequestData(path: "http://h/", parameters: ["deep": typed]).transportRequest()
        }
    }
}
