/// Rows of text in columns.
struct Table {
    /// The alignment of a column.
    enum Alignment {
        case left
        case right
    }

    private let alignments: [Alignment]
    private var rows: [[String]]

    init(_ columns: [(title: String, alignment: Alignment)]) {
        alignments = columns.map(\.alignment)
        rows = [columns.map(\.title)]
    }

    mutating func add(_ row: [String]) { rows.append(row) }

    /// The lines, with two spaces between columns and none at the end of a line.
    var lines: [String] {
        let widths = alignments.indices.map { column in
            rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
        }
        return rows.map { row in
            let cells = zip(row, zip(widths, alignments)).map { text, column in
                let padding = String(repeating: " ", count: column.0 - text.count)
                return column.1 == .left ? text + padding : padding + text
            }
            let line = cells.joined(separator: "  ")
            return String(line[..<(line.lastIndex { $0 != " " }.map { line.index(after: $0) } ?? line.startIndex)])
        }
    }
}
