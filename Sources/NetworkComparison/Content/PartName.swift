import NetworkCore

/// The name of a part of a response. Names are told apart by their bytes, since they contain keys that the server has
/// chosen: for Swift, "é" equals "e" with an accent.
package struct PartName: Hashable, Comparable, Sendable, ExpressibleByStringLiteral {
    package let text: String

    package init(_ text: String) { self.text = text }

    package init(stringLiteral text: String) { self.text = text }

    package static func == (left: PartName, right: PartName) -> Bool { left.text.hasSameBytes(as: right.text) }

    package static func < (left: PartName, right: PartName) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}
