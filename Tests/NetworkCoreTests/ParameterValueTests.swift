import Foundation
import NetworkCore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ParameterValueTests {
    private struct Unknown {}
    private enum Color: String { case red }

    @Test func anyValue_becomesItsKind() {
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

    @Test func nestedValues_becomeTheirKinds() {
        let list: [Any?] = [1, "a", nil, [true], ["k": 2.5]]
        #expect(
            ParameterValue(list) == .array([.int(1), .string("a"), .null, .array([.bool(true)]), ["k": 2.5]])
        )
        #expect(ParameterValue(["a": nil, "b": [1, 2]] as [String: Any?]) == ["a": nil, "b": [1, 2]])
        #expect(ParameterValue([Int]()) == .array([]))
        #expect(ParameterValue([String: Int]()) == .object([:]))
    }

    @Test func valueThatJSONLacks_isUnencodableWithItsType() throws {
        for (value, name) in [
            (Unknown(), "Unknown"), (Color.red, "Color"), (Data([1]), "Data"),
            ([1: "a"], "Dictionary"),
        ] as [(any Sendable, String)] {
            guard case .unencodable(let type) = ParameterValue(value) else {
                Issue.record("\(value) was taken")
                continue
            }
            #expect(type.contains(name))
        }
    }

    @Test func literals_areValues() {
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

    @Test func plainValue_isWhatJSONSerializationTakes() throws {
        let data = RequestData(path: "http://h/", method: .post, params: ["a": 1, "b": nil, "c": ["x", true]])
        let params = try #require(data.params)
        #expect(params["a"] as? Int == 1)
        #expect(params["c"] as? [(any Sendable)?] != nil)
        let bytes = try JSONSerialization.data(withJSONObject: params.compactMapValues { $0 })
        #expect(try JSONSerialization.jsonObject(with: bytes) is [String: Any])
    }

    @Test func depth_hasALimit() {
        var value: Any = 1
        for _ in 0..<200 { value = [value] }
        let request = RequestData(path: "http://h/", method: .post, params: ["deep": value])
        expectFailure(.invalidParameters) { try request.transportRequest() }
        var typed = ParameterValue.int(1)
        for _ in 0..<200 { typed = .array([typed]) }
        expectFailure(.invalidParameters) {
            try RequestData(path: "http://h/", params: ["deep": typed]).transportRequest()
        }
    }
}
