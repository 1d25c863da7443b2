import Foundation
@testable import NetworkCore
import TestSupport
import Testing

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
