public import Foundation

/// A request as ``ScriptedServer`` received it on the wire.
public struct ReceivedRequest: Sendable {
    /// The head as received, without the blank line; each byte is one character (ISO 8859-1).
    public let head: String
    /// The body, without the framing of a chunked transfer.
    public let body: Data
    /// The number of the connection, from 0 in the order in which the server accepted them.
    public let connection: Int

    /// The parts of the request line: method, target, version.
    public var requestLine: [String] { (lines.first ?? "").split(separator: " ").map(String.init) }
    /// The method, as received.
    public var method: String { requestLine.first ?? "" }
    /// The target: the path and query.
    public var target: String { requestLine.dropFirst().first ?? "" }
    /// The header lines, in the order received.
    public var headerLines: [String] { Array(lines.dropFirst()) }

    /// The header fields, in the order received, without white space around the values.
    public var fields: [(name: String, value: String)] {
        headerLines.map { line in
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return (String(parts[0]), parts.dropFirst().first.map { $0.trimmingCharacters(in: .whitespaces) } ?? "")
        }
    }

    /// Returns the values of all fields with a name. The case of the name does not matter.
    public func values(of name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    private var lines: [String] { head.components(separatedBy: "\r\n") }
}
