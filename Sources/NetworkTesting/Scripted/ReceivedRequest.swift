public import Foundation

/// A request as ``ScriptedServer`` read it off the wire.
public struct ReceivedRequest: Sendable {
    /// The head as it came, without the blank line; each byte one character (ISO 8859-1).
    public let head: String
    /// The body, without its chunk framing.
    public let body: Data
    /// The number of its connection, from 0 in the order in which they were accepted.
    public let connection: Int

    /// The request line's parts: method, target, version.
    public var requestLine: [String] { (lines.first ?? "").split(separator: " ").map(String.init) }
    /// The method.
    public var method: String { requestLine.first ?? "" }
    /// The target: path and query.
    public var target: String { requestLine.dropFirst().first ?? "" }
    /// The header lines in their order.
    public var headerLines: [String] { Array(lines.dropFirst()) }

    /// The header fields in their order, white space around the value dropped.
    public var fields: [(name: String, value: String)] {
        headerLines.map { line in
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return (String(parts[0]), parts.dropFirst().first.map { $0.trimmingCharacters(in: .whitespaces) } ?? "")
        }
    }

    /// The values of the fields with a name, in any case.
    public func values(of name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    private var lines: [String] { head.components(separatedBy: "\r\n") }
}
