import Foundation
import NetworkComparison
import Testing

struct ExclusionTests {
    private static let article = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Sources/NetworkLayer/NetworkLayer.docc/TransportDifferences.md").standardized

    @Test(arguments: Exclusion.all)
    func `an exclusion is in the documentation`(exclusion: Exclusion) throws {
        let text = try String(contentsOf: Self.article, encoding: .utf8)
        let row = text.split(separator: "\n").first {
            $0.hasPrefix("| `\(exclusion.name.rawValue)` | \(exclusion.transport) |")
        }
        let cells = try #require(row, "no row names \(exclusion.name.rawValue)")
        #expect(cells.contains(exclusion.reason))
        #expect(cells.contains(exclusion.until))
    }

    /// `unsupported` stands for all exclusions that are refused, `lowercaseNames` for HTTP/2.
    @Test func `a difference that a comparison knows is an exclusion`() {
        let names = Set(KnownDifference.all.map(\.name)).subtracting(["unsupported", "lowercaseNames"])
        #expect(names.isSubset(of: Exclusion.Case.allCases.map(\.rawValue)), "\(names)")
    }

    @Test func `exclusions are listed once`() {
        let names = Exclusion.all.map(\.testDescription)
        #expect(Set(names).count == names.count)
        #expect(Set(Exclusion.all.map(\.name)) == Set(Exclusion.Case.allCases))
    }
}
