import Foundation
import NetworkCore
import TestSupport
import Testing

@testable import NetworkRecording

@Suite(.patience(minutes: 1))
struct JSONSecretsTests {
    private func redacted(_ text: String) -> String {
        JSONSecrets.redacted(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) } ?? text
    }

    @Test(arguments: [
        (#"{"password": "x"}"#, #"{"password": "REDACTED"}"#),
        (#"{"a":1,"accessToken":"x","b":2}"#, #"{"a":1,"accessToken":"REDACTED","b":2}"#),
        (#"{ "pin" : 1234 , "b":[1]}"#, #"{ "pin" : 0 , "b":[1]}"#),
        (#"{"token":null}"#, #"{"token":null}"#), (#"{"hasPassword":true}"#, #"{"hasPassword":true}"#),
        (#"{"prompt_tokens":-1.5e3}"#, #"{"prompt_tokens":0}"#), (#"{"token":trueish}"#, #"{"token":"REDACTED"}"#),
        (#"{"token":{"a":["}",{"b":"]"}]},"c":1}"#, #"{"token":{},"c":1}"#),
        (#"{"secrets":["a","b"]}"#, #"{"secrets":[]}"#),
        (#"{"a":{"b":[{"API_KEY":"x"}]}}"#, #"{"a":{"b":[{"API_KEY":"REDACTED"}]}}"#),
        (#"{"password":"a\"b\\","c":"d"}"#, #"{"password":"REDACTED","c":"d"}"#),
        (#"{"\u0070assword":"x"}"#, #"{"\u0070assword":"REDACTED"}"#),
        (#"{"author":"x","name":"password"}"#, #"{"author":"x","name":"password"}"#),
        (#"["password","x"]"#, #"["password","x"]"#),
        (#"{"headers":[["Authorization","Bearer x"]],"a":1}"#, #"{"headers":[["Authorization","REDACTED"]],"a":1}"#),
        (#"{"said":"Basic dTpw","a":"basic"}"#, #"{"said":"REDACTED","a":"basic"}"#),
        ("{\"token\"\n:\t\"x\"}", "{\"token\"\n:\t\"REDACTED\"}"),
        (#"{"password":""}"#, #"{"password":"REDACTED"}"#),
        (#"{"next":"https:\/\/u:p@h\/?a=1\u0026token=x"}"#, #"{"next":"https://h/?a=1&token=REDACTED"}"#),
        (#"{"said":"\u0042asic dTpw"}"#, #"{"said":"REDACTED"}"#),
        (#"{"text":"{\"token\":\"x\",\"a\":\"é\"}"}"#, #"{"text":"{\"token\":\"REDACTED\",\"a\":\"é\"}"}"#),
        (#"{"id":"eyJhbGciOiJub25lIn0.e30.","b":"keyJoin.a.b"}"#, #"{"id":"REDACTED","b":"keyJoin.a.b"}"#),
        (#"{"b":"\ud83d\ude00 \ud83d what? it's 5; x@y"}"#, #"{"b":"\ud83d\ude00 \ud83d what? it's 5; x@y"}"#),
        (#"{"password":"REDACTED"}"#, #"{"password":"REDACTED"}"#),
        (#"{"OAuth Token":"x","a":1}"#, #"{"REDACTED":"REDACTED","a":1}"#),
        (#"{"Bearer Token":{"b":"x"},"a":1}"#, #"{"REDACTED":{},"a":1}"#),
        (#"{"Basic Auth Password":["x"],"a":1}"#, #"{"REDACTED":[],"a":1}"#),
        (#"{"https://u:p@h/?token=x":"y","a":1}"#, #"{"https://h/?token=REDACTED":"REDACTED","a":1}"#),
    ])
    func `the value of a secret member is replaced`(_ text: String, _ expected: String) {
        #expect(redacted(text) == expected)
        #expect(redacted(expected) == expected)
    }

    @Test(arguments: [
        (#"{"password":"hun"#, #"{"password":"REDACTED""#), (#"{"password":"#, #"{"password":"#),
        (#"{"password""#, #"{"password""#), (#"{"password":{"a":"hun"#, #"{"password":{}"#),
        (#"{"password":"hun\"#, #"{"password":"REDACTED""#), (#"{"password":12"#, #"{"password":0"#),
    ])
    func `a text that was cut is redacted to its end`(_ text: String, _ expected: String) {
        #expect(redacted(text) == expected)
    }

    @Test(arguments: [
        (
            "{\"token\":\"a\"}\n{\"b\":\"c\"}\n{\"token\":\"d\"}\n",
            "{\"token\":\"REDACTED\"}\n{\"b\":\"c\"}\n{\"token\":\"REDACTED\"}\n"
        ),
        ("{\"token\":\"a\n{\"token\":\"b\"}\n", "{\"token\":\"REDACTED\"\n{\"token\":\"REDACTED\"}\n"),
        ("{\"password\":\"two\nlines\",\"a\":1}", "{\"password\":\"REDACTED\",\"a\":1}"),
        ("{\"note\":\"two\nlines\",\"password\":\"x\"}", "{\"note\":\"two\nlines\",\"password\":\"REDACTED\"}"),
        ("{\"note\":\"\n\n\" , \"password\":\"x\"}", "{\"note\":\"\n\n\" , \"password\":\"REDACTED\"}"),
        ("said \"so\n2024 {\"token\":\"x\"}", "said \"so\n2024 {\"token\":\"REDACTED\"}"),
    ])
    func `lines of JSON are redacted line by line`(_ text: String, _ expected: String) {
        #expect(redacted(text) == expected)
    }

    @Test(arguments: [
        (": it's \"quoted\ndata: {\"token\":\"x\"}\n\n", ": it's \"quoted\ndata: {\"token\":\"REDACTED\"}\n\n"),
        ("event: a\ndata: {\"token\":\ndata: \"x\"}\n\n", "event: a\ndata: {\"token\":\ndata: \"REDACTED\"}\n\n"),
        (
            "data: {\"token\":\"x\"}\r\n\r\ndata: {\"a\":\"b\"}",
            "data: {\"token\":\"REDACTED\"}\r\n\r\ndata: {\"a\":\"b\"}"
        ),
        (
            "data: {\"token\":\nid: 7\n: \"ping\ndata\ndata: \"x\"}\n\n",
            "data: {\"token\":\nid: 7\n: \"ping\ndata\ndata: \"REDACTED\"}\n\n"
        ),
        (
            "data: {\"token\":{\"a\":\nretry: 1\ndata:\"x\",\ndata: \"b\":1},\ndata: \"c\":2}\n",
            "data: {\"token\":{}\nretry: 1\ndata:\ndata:,\ndata: \"c\":2}\n"
        ),
        (": {\"token\":\"x\"}\nid: {\"token\":\ndata: 1\n", ": {\"token\":\"REDACTED\"}\nid: {\"token\":\ndata: 1\n"),
        ("\u{FEFF}data: {\"token\":\ndata: \"x\"}\n\n", "\u{FEFF}data: {\"token\":\ndata: \"REDACTED\"}\n\n"),
        ("id: {\"token\":\"x\"}\rdata: {\"pin\":1}\r", "id: {\"token\":\"REDACTED\"}\rdata: {\"pin\":0}\r"),
    ])
    func `the data of an event is one text, whatever is between its lines`(_ text: String, _ expected: String) {
        for type in ["text/event-stream", ""] {
            let fields: HTTPFields = type.isEmpty ? [:] : [.contentType: type]
            let verdict = BodySecrets.verdict(on: Data(text.utf8), fields)
            guard case .replaced(let shown) = verdict else {
                Issue.record("nothing was replaced")
                continue
            }
            #expect(String(decoding: shown, as: UTF8.self) == expected)
            #expect(BodySecrets.verdict(on: Data(shown), fields) == .unchanged)
        }
    }

    @Test(arguments: 0..<200)
    func `all other bytes stay as they are, and valid JSON stays valid`(_ seed: UInt64) throws {
        var source = JSONSource(seed)
        source.value(depth: 0)
        let shown = redacted(source.text)
        #expect(shown == source.expected)
        #expect(throws: Never.self) { try JSONParser.parse(Array(shown.utf8), allowsRepeatedKeys: true) }
        #expect(redacted(shown) == shown)
        #expect(!shown.contains("CANARY"))
        // Cut at a random place, nothing of a secret is left either.
        let bytes = Array(source.text.utf8)
        let cut = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &source.generator)))
        #expect(!String(decoding: JSONSecrets.redacted(cut) ?? cut, as: UTF8.self).contains("CANAR"))
    }

    @Test(arguments: 0..<200)
    func `any bytes are scanned without a trap`(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let pieces = [
            "\"", "\\", "{", "}", "[", "]", ":", ",", "\n", "\r", " ", "data:", "token", "password", "\\u", "0",
        ]
        let text = Array(generator.text(of: pieces, upTo: 60).utf8)
        let shown = JSONSecrets.redacted(text)
        #expect(shown != text)
        _ = URLSecrets.redacted(text)
        _ = FormSecrets.redacted(text)
        _ = FormSecrets.multipartHoldsSecret(text)
    }

    /// Regression: each string that a line end cut was read to the next quote, however far away that is.
    @Test(arguments: ["\\\"\n", "\"\n", "\"\\\n", "{\"token\":{\n\"", "\"\n\\\""])
    func `lines of open strings cost no more than in proportion to their length`(unit: String) {
        func text(_ bytes: Int) -> [UInt8] { Array(String(repeating: unit, count: bytes / unit.utf8.count).utf8) }
        let (short, long) = (text(4_000), text(128_000))
        let most = cost(rounds: 3) { _ = JSONSecrets.redacted(short) }
        #expect(!costsMore(than: most * 32 * 4) { _ = JSONSecrets.redacted(long) })
        // What follows the next quote is looked at once, too.
        let blanks = text(64_000) + [UInt8(ascii: "\"")] + Array(repeating: 0x20, count: 64_000) + [0x78]
        #expect(!costsMore(than: most * 32 * 4) { _ = JSONSecrets.redacted(blanks) })
    }

    @Test func `the cost is linear, whatever the text`() {
        func texts(_ count: Int) -> [[UInt8]] {
            [
                "\"", "\"a\":", "{\"token\":", "\"token\":[", "\n\"token\":\"", "\\", "//a:b@", "?a=", ";a=1", "?",
                "name=\"a", "a=", "%", "%25", "a=%25&", "a%3D", "\"\\\"", "\"\\u0022", "eyJ", "\"http://a:b@",
                "\"{\\\"a\\\":",
            ].flatMap { pattern in
                // What comes last decides whether all that is before it is looked into once more.
                ["", "%25", "%", "%22", "@h", "\""].map {
                    Array("?\(String(repeating: pattern, count: count))\($0)".utf8)
                }
            }
        }
        func scan(_ texts: [[UInt8]]) {
            for text in texts {
                _ = JSONSecrets.redacted(text)
                _ = URLSecrets.redacted(text)
                _ = FormSecrets.redacted(text)
                _ = FormSecrets.multipartHoldsSecret(text)
                _ = TextSecrets.redacted(text)
            }
        }
        let (small, large) = (texts(300), texts(2400))
        // Quadratic, it would be 64 times.
        let limit = cost(rounds: 2) { scan(small) } * 24
        #expect(!costsMore(than: limit) { scan(large) })
    }
}

/// A generator of a JSON text, next to what is expected of its redaction.
private struct JSONSource {
    var generator: SeededGenerator
    private(set) var text = ""
    private(set) var expected = ""
    private var isHidden = false

    init(_ seed: UInt64) { generator = SeededGenerator(seed: seed) }

    private mutating func add(_ piece: String) {
        text += piece
        if !isHidden { expected += piece }
    }

    private mutating func space() { add(generator.text(of: [" ", "\n", "\t", "\r\n"], upTo: 2)) }

    mutating func value(depth: Int) {
        switch Int.random(in: depth > 4 ? 2...5 : 0...5, using: &generator) {
        case 0: list("[", "]", depth) { $0.value(depth: depth + 1) }
        case 1: list("{", "}", depth) { $0.member(depth: depth + 1) }
        case 2: add(["true", "false", "null"].randomElement(using: &generator) ?? "null")
        case 3: add(["0", "-1.5e3", "12"].randomElement(using: &generator) ?? "0")
        default: add(string(isHidden ? "CANARY" : ""))
        }
    }

    private mutating func list(_ open: String, _ close: String, _ depth: Int, _ element: (inout JSONSource) -> Void) {
        add(open)
        space()
        for index in 0..<Int.random(in: 0...4, using: &generator) {
            if index > 0 { add(",") }
            space()
            element(&self)
            space()
        }
        add(close)
    }

    private mutating func member(depth: Int) {
        let secrets = ["password", "Access-Token", "\\u0070assword", "x_api_key", "sessionId"]
        let isSecret = Bool.random(using: &generator)
        var key = "\"\((isSecret ? secrets.randomElement(using: &generator) : nil) ?? "name")\""
        if !isSecret, Bool.random(using: &generator) {
            let hostile = generator.hostileText(upTo: 6)
            if !SecretName.isSecret(hostile.utf8) {
                key = String(decoding: JSONValue.string(hostile).line, as: UTF8.self)
            }
        }
        add(key)
        space()
        add(":")
        space()
        guard isSecret, !isHidden else { return value(depth: depth) }
        let start = text.utf8.count
        isHidden = true
        value(depth: depth)
        isHidden = false
        let hidden = String(decoding: text.utf8.dropFirst(start), as: UTF8.self)
        let mark =
            switch hidden.utf8.first {
            case UInt8(ascii: "{"): "{}"
            case UInt8(ascii: "["): "[]"
            case UInt8(ascii: "\""): "\"REDACTED\""
            case UInt8(ascii: "-"), UInt8(ascii: "0"), UInt8(ascii: "1"): "0"
            default: hidden
            }
        expected += mark
    }

    private mutating func string(_ start: String) -> String {
        String(decoding: JSONValue.string(start + generator.hostileText(upTo: 8)).line, as: UTF8.self)
    }
}
