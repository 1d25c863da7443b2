/// The name of a part of a response. Names are told apart by their bytes, since they contain keys that the server has
/// chosen: for Swift, "é" equals "e" with an accent.
package struct PartName: Hashable, Comparable, Sendable, ExpressibleByStringLiteral {
    package let text: String
    /// Calculated once: each response of many looks all of its names up.
    private let number: Int

    package init(_ text: String) {
        self.text = text
        var hasher = Hasher()
        for byte in text.utf8 { hasher.combine(byte) }
        number = hasher.finalize()
    }

    package init(stringLiteral text: String) { self.init(text) }

    package static func == (left: PartName, right: PartName) -> Bool {
        // The helper of another module is generic, and slower by far.
        left.number == right.number && left.text.utf8.elementsEqual(right.text.utf8)
    }

    package static func < (left: PartName, right: PartName) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(number) }
}
