/// A table as Markdown has it, its columns in line.
public struct TextTable: Sendable {
    private var rows: [[String]]

    /// A table with its first row.
    public init(_ header: String...) { rows = [header] }

    /// Adds a row with as many cells as the first.
    public mutating func add(_ cells: String...) {
        rows.append(cells.map { $0.replacing("|", with: "\\|") })
    }

    /// The table's lines.
    public var text: String {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        func line(_ cells: [String]) -> String {
            let padded = zip(cells, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
            return "| " + padded.joined(separator: " | ") + " |"
        }
        let rule = "|" + widths.map { String(repeating: "-", count: $0 + 2) }.joined(separator: "|") + "|"
        return ([line(rows[0]), rule] + rows.dropFirst().map(line)).joined(separator: "\n")
    }
}
