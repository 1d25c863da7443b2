#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The start of a body, fit for a person's screen.
enum Excerpt {
    static let maximumBytes = 512

    /// The first 512 bytes as text: bytes that are not UTF-8 replaced, control characters as `\u{1B}`.
    static func of(_ body: Data) -> String {
        let start = String(decoding: body.prefix(maximumBytes), as: UTF8.self)
        let text = start.unicodeScalars.reduce(into: "") { text, scalar in
            let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
            text += isControl ? scalar.escaped(asASCII: true) : String(scalar)
        }
        return body.count > maximumBytes ? text + "… (\(body.count) bytes)" : text
    }
}
