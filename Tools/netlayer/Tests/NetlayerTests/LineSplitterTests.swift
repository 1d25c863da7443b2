import Testing

@testable import netlayer

@Suite struct LineSplitterTests {
    private func split(_ chunks: [String], limit: Int = 100) -> [String] {
        var splitter = LineSplitter(limit: limit)
        var lines = chunks.flatMap { splitter.lines(in: Array($0.utf8)) }
        lines += splitter.last().map { [$0] } ?? []
        return lines.map { "\($0.number):\($0.bytes.map { String(decoding: $0, as: UTF8.self) } ?? "too long")" }
    }

    @Test func `lines are cut across chunks`() {
        #expect(split(["a", "b\nc", "\n", "d"]) == ["1:ab", "2:c", "3:d"])
    }

    @Test func `blank lines are skipped and counted`() { #expect(split(["\n \t\r\na\r\n\n"]) == ["3:a\r"]) }

    @Test func `a line above the limit is reported, and the rest goes on`() {
        #expect(split(["abcd", "e\nabcd\nx"], limit: 4) == ["1:too long", "2:abcd", "3:x"])
        #expect(split(["abcde"], limit: 4) == ["1:too long"])
    }

    @Test func `nothing has no lines`() { #expect(split([]) == []) }
}
