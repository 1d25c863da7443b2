import Foundation
import NetworkLayer

/// Rows as comma-separated values (RFC 4180).
struct CSVContent: BodyEncoder {
    let rows: [[String]]

    func encode() throws -> RequestContent.Encoded {
        let lines = rows.map { $0.map(Self.quoted).joined(separator: ",") }
        return RequestContent.Encoded(
            .bytes(Data(lines.joined(separator: "\r\n").utf8)), contentType: "text/csv; charset=utf-8")
    }

    private static func quoted(_ cell: String) -> String {
        guard cell.contains(where: { $0 == "\"" || $0 == "," || $0.isNewline }) else { return cell }
        return "\"\(cell.replacingOccurrences(of: "\"", with: "\"\""))\""
    }
}

extension RequestContent {
    static func csv(_ rows: [[String]]) -> RequestContent { RequestContent(CSVContent(rows: rows)) }
}
