import Foundation
import TestSupport

@testable import NetworkRecording

/// A generator of a JSON text, next to what is expected of its redaction.
struct JSONSource {
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
                key = Self.quoted(hostile)
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
        Self.quoted(start + generator.hostileText(upTo: 8))
    }

    private static func quoted(_ text: String) -> String {
        (try? JSONEncoder().encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}
