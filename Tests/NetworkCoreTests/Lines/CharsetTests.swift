import Foundation
import TestSupport
import Testing

@testable import NetworkCore

@Suite(.patience(minutes: 1))
struct CharsetTests {
    private func text(_ charset: Charset, _ bytes: [UInt8], _ invalid: ResponseLines.InvalidText) -> String? {
        try? charset.text(of: bytes, invalid: invalid, "the text")
    }

    @Test(
        arguments: [
            [0x61], [0xC3, 0xA9], [0xE2, 0x82, 0xAC], [0xF0, 0x9F, 0x98, 0x80], [0x80], [0xC3], [0xE2, 0x82], [0xFF],
            [0xF0, 0x9F, 0x98], [0xED, 0xA0, 0x80], [0xF0, 0x9F, 0x98, 0x80, 0x80], [0xEF, 0xBB, 0xBF], [0xE2, 0x61],
        ] as [[UInt8]])
    func `bytes of any kind become text`(unit: [UInt8]) {
        for shift in 0..<8 {
            let many = Array(repeating: unit, count: 40).joined()
            let bytes = Array(repeating: 0x62, count: shift) + many
            #expect(text(.utf8, [0x62] + bytes, .replaced) == String(decoding: [0x62] + bytes, as: UTF8.self))
            #expect(text(.utf8, [0x62] + bytes, .refused) == String(validating: [0x62] + bytes, as: UTF8.self))
            #expect(
                text(.latin1, bytes, .refused)?.unicodeScalars.elementsEqual(bytes.map { Unicode.Scalar($0) }) == true)
            let ascii = bytes.map { $0 < 0x80 ? Unicode.Scalar($0) : "\u{FFFD}" }
            #expect(text(.ascii, bytes, .replaced)?.unicodeScalars.elementsEqual(ascii) == true)
            #expect((text(.ascii, bytes, .refused) == nil) == bytes.contains { $0 >= 0x80 })
        }
    }

    @Test func `a byte order mark is left out at the start alone`() {
        #expect(text(.utf8, [0xEF, 0xBB, 0xBF, 0xEF, 0xBB, 0xBF, 0x61], .refused) == "\u{FEFF}a")
        #expect(text(.utf8, [0xEF, 0xBB, 0xBF], .replaced)?.isEmpty == true)
        #expect(text(.latin1, [0xEF, 0xBB, 0xBF], .refused) == "ï»¿")
    }
}

struct LineBufferTests {
    private func lines(_ chunks: [Data], _ terminator: LineBuffer.Terminator = .any, limit: Int = 100) -> (
        lines: [String], isOverfull: Bool
    ) {
        var buffer = LineBuffer(endingWith: terminator, limit: limit)
        var lines = chunks.flatMap { buffer.lines(in: $0) }
        if let last = buffer.last() { lines.append(last) }
        return (lines.map { String(decoding: $0, as: UTF8.self) }, buffer.isOverfull)
    }

    @Test(
        arguments: [
            ("", []), ("a", ["a"]), ("a\n", ["a"]), ("a\nb", ["a", "b"]), ("a\r\nb\r\n", ["a", "b"]),
            ("a\rb\r", ["a", "b"]), ("\n\n", ["", ""]), ("\r\r\n\n", ["", "", ""]), ("a\n\rb", ["a", "", "b"]),
        ] as [(String, [String])]
    )
    func `line ends are LF, CR, and both`(text: String, expected: [String]) {
        #expect(lines([Data(text.utf8)]).lines == expected)
    }

    @Test func `a line feed alone leaves carriage returns`() {
        #expect(lines([Data("a\r\nb\rc\n".utf8)], .lineFeed).lines == ["a\r", "b\rc"])
    }

    @Test(arguments: [LineBuffer.Terminator.any, .lineFeed], 0..<40)
    func `chunks cut anywhere give the same lines`(terminator: LineBuffer.Terminator, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let alphabet = Array("ab\r\n\r\n".utf8)
        let bytes = Data(
            (0..<Int.random(in: 0...40, using: &random)).map { _ in alphabet.randomElement(using: &random)! })
        for limit in [2, 100] {
            let whole = lines([bytes], terminator, limit: limit)
            for border in 0...bytes.count {
                let split = lines([bytes.prefix(border), bytes.dropFirst(border)], terminator, limit: limit)
                #expect(split.lines == whole.lines && split.isOverfull == whole.isOverfull, "\(seed), \(border)")
            }
            let single = lines(bytes.map { Data([$0]) }, terminator, limit: limit)
            #expect(single.lines == whole.lines && single.isOverfull == whole.isOverfull)
        }
    }

    @Test func `a line beyond the limit ends the lines, after the ones before`() {
        let result = lines([Data("ab\nabc\nd\n".utf8)], limit: 2)
        #expect(result.lines == ["ab"])
        #expect(result.isOverfull)
        #expect(lines([Data("abc".utf8)], limit: 2).isOverfull, "a line without an end counts too")
        #expect(!lines([Data("ab\r\n".utf8)], limit: 2).isOverfull, "the line's end does not count")
    }
}
