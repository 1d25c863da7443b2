/// A Markdown table with aligned columns.
public struct TextTable: Sendable {
    private var rows: [[String]]

    /// Creates a table with its header.
    public init(_ header: String...) { rows = [header] }

    /// Adds a row, which has as many cells as the header.
    public mutating func add(_ cells: String...) {
        rows.append(cells.map { $0.replacing("|", with: "\\|") })
    }

    /// The lines of the table.
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
