import JSONText
import NetworkLayer
import Testing
import ToolSupport

@testable import netlayer

/// A combining mark after an ASCII character, and some characters before one, make another `Character` of it, which
/// compares equal to nothing that an escape looks for.
@Suite("Escaping of reports", .patience(minutes: 1)) struct EscapingTests {
    /// A scalar of each kind that joins the one before it or after it.
    private static let (before, after) = (
        ["\u{0D4E}", "\u{0600}", "\r"], ["\u{301}", "\u{200D}", "\u{FE0F}", "\u{20DD}"]
    )

    /// Returns texts in which a character is joined with another one.
    private static func joined(_ character: String) -> [String] {
        before.map { $0 + character } + after.map { character + $0 } + [before[0] + character + after[0]]
    }

    @Test(arguments: ["<", ">", "\"", "&"]) func `markup has no character of a text`(character: String) {
        for text in Self.joined(character) {
            for escaped in [HTML.escaped(text), ReportJUnit.escaped(text)] {
                #expect(escaped.utf8.contains(UInt8(ascii: "&")) && escaped.utf8.contains(UInt8(ascii: ";")))
                #expect(character == "&" || !escaped.utf8.contains(character.utf8.first!))
            }
        }
    }

    @Test func `a shell reads the word of a command as it was`() async throws {
        for text in Self.joined("'").filter({ !$0.contains("\r") }) {
            let shown = ComparisonEnvironment.shown(["compare", "--save", "x\(text); echo planted #"])
            let run = try await ToolRun(["-c", "set -- \(shown); printf %s \"$4\""], of: "/bin/sh")
            #expect(run.text.utf8.elementsEqual("x\(text); echo planted #".utf8))
        }
    }

    @Test func `a shell's marks count within joined characters`() throws {
        for mark in Self.after {
            #expect(
                try ShellWords.split("curl '\(mark)a b' \"\(mark)c\"").map { Array($0.utf8) }
                    == ["curl", "\(mark)a b", "\(mark)c"].map { Array($0.utf8) })
            #expect(throws: ToolFailure.self) { try ShellWords.split("curl $\(mark)HOME") }
            #expect(throws: ToolFailure.self) { try ShellWords.split("curl a;\(mark)b") }
        }
        #expect(try ShellWords.split("curl \\\r\n a\r\nb") == ["curl", "a", "b"])
    }
}
