import JSONText
import NetworkLayer
import Testing

@testable import netlayer

@Suite struct JSONTests {
    @Test(arguments: [
        #"{"a":[1,2.50,-0,1e3,18446744073709551616],"b":null,"c":true,"d":false,"e":{}}"#,
        #"[]"#, #""text""#, #"12"#, #""/ \\ \" \n é 😀""#,
    ])
    func `text comes out as it went in`(_ text: String) throws {
        #expect(String(decoding: try JSONParser.parse(Array(text.utf8)).line, as: UTF8.self) == text)
    }

    /// Equal for Swift, and not the same bytes.
    @Test func `keys of other bytes are other keys`() throws {
        let text = "{\"\u{E9}\":1,\"e\u{301}\":2}"
        #expect(try JSONParser.parse(Array(text.utf8)).line == Array(text.utf8))
        var reader = ObjectReader([.init("\u{212A}ey", .integer(1))])
        #expect(try reader.integer("Key") == nil)
        let problem = #expect(throws: LineProblem.self) { try reader.finish() }
        #expect(problem?.message.hasPrefix("unknown key") == true, "\(problem?.message ?? "")")
    }

    @Test func `escapes are resolved`() throws {
        let text = #""\u00e9\ud83d\ude00\b\f\/\u0000""#
        #expect(try JSONParser.parse(Array(text.utf8)) == .string("é😀\u{8}\u{C}/\u{0}"))
    }

    @Test func `control characters are escaped on the way out`() {
        #expect(
            String(decoding: JSONValue.string("\u{0}\u{1F}\u{7F}\t").line, as: UTF8.self) == #""\u0000\u001f\u007f\t""#)
    }

    @Test(arguments: [
        ("", 0), ("{", 1), ("[1,]", 3), ("{\"a\":1,}", 7), ("01", 1), ("1.", 2), ("-", 1), ("nul", 0), ("1 2", 2),
        (#"{"a":1,"a":2}"#, 10), (#""\ud800""#, 7), (#""\udc00""#, 7), (#""\x""#, 3), (#""\u+123""#, 3), ("\"\n\"", 1),
        ("\"open", 5), ("'a'", 0),
    ])
    func `a text that is not JSON is refused with its place`(_ text: String, _ offset: Int) {
        let problem = #expect(throws: JSONProblem.self) { try JSONParser.parse(Array(text.utf8)) }
        #expect(problem?.offset == offset)
    }

    @Test func `bytes that are not UTF-8 are refused`() {
        #expect(throws: JSONProblem.self) { try JSONParser.parse([0x22, 0xFF, 0x22]) }
        // The overlong form of '/' and an encoded surrogate.
        #expect(throws: JSONProblem.self) { try JSONParser.parse([0x22, 0xC0, 0xAF, 0x22]) }
        #expect(throws: JSONProblem.self) { try JSONParser.parse([0x22, 0xED, 0xA0, 0x80, 0x22]) }
    }

    @Test func `deep nesting is refused and not followed`() {
        let text = String(repeating: "[", count: 100_000)
        #expect(throws: JSONProblem.self) { try JSONParser.parse(Array(text.utf8)) }
    }

    @Test func `whole numbers may be written in any form`() {
        #expect(JSONValue.number("10").wholeNumber == 10)
        #expect(JSONValue.number("1e1").wholeNumber == 10)
        #expect(JSONValue.number("1.5").wholeNumber == nil)
        #expect(JSONValue.number("1e400").wholeNumber == nil)
        #expect(JSONValue.number("9223372036854775808").wholeNumber == nil)
    }

    @Test func `decimals have three digits and are finite`() {
        #expect(JSONValue.decimal(1.23456) == .number("1.235"))
        #expect(JSONValue.decimal(.nan) == .null)
        #expect(JSONValue.decimal(.infinity) == .null)
    }
}
