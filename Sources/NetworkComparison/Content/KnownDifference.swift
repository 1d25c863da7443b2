import NetworkCore

/// A difference between the transports that is known and documented, in 'Where the transports differ'.
package struct KnownDifference: Sendable, Hashable {
    /// The name under which the documentation has it.
    package var name: String
    /// Why it is there.
    package var reason: String
    /// With which version it was seen.
    package var since: String

    /// Returns the known difference of which two values of a part are an example; `nil` if it is a new one.
    static func found(
        at place: String, _ left: PartValue, _ right: PartValue, _ kinds: (left: String, right: String)
    ) -> KnownDifference? {
        if place == "fieldCase", isOfVersions(left.text, right.text) { return lowercaseNames }
        guard Set([kinds.left, kinds.right]) == ["curl", "urlsession"] else { return nil }
        // The first value is curl's from here on.
        let (curl, session) = kinds.left == "curl" ? (left, right) : (right, left)
        return rows.first { $0.applies(place, curl, session) }?.difference
    }

    /// All known differences.
    package static var all: Set<KnownDifference> { Set(rows.map(\.difference) + [lowercaseNames]) }

    /// A difference between versions of HTTP, over any transports.
    private static let lowercaseNames = KnownDifference(
        name: "lowercaseNames", reason: "over HTTP/2 and HTTP/3 names are in lower case (RFC 9113 §8.2)",
        since: "HTTP/2")

    /// Whether two lists of names are the same in lower case, in which one of them is.
    private static func isOfVersions(_ left: String, _ right: String) -> Bool {
        func names(_ text: String) -> Set<Substring> { Set(text.lowercasedASCII.split(separator: ", ")) }
        return (left.hasSameBytes(as: left.lowercasedASCII) || right.hasSameBytes(as: right.lowercasedASCII))
            && names(left) == names(right)
    }

    private struct Row: Sendable {
        let difference: KnownDifference
        let applies: @Sendable (_ place: String, _ curl: PartValue, _ session: PartValue) -> Bool
    }

    private static let rows: [Row] = [
        row("fieldOrder", "URLSession sorts response header fields by name, and joins repeated ones") { place, _, _ in
            place == "fieldOrder"
        },
        row("fieldOrder", "URLSession joins repeated header fields") { place, curl, session in
            place.hasPrefix("field:") && curl.text.contains("\n")
                && curl.text.replacing("\n", with: ", ").hasSameBytes(as: session.text.replacing("\n", with: ", "))
        },
        row("repeatedFieldsOfOtherCase", "of names that differ in case alone, URLSession leaves one") { place, _, _ in
            place == "fieldCase"
        },
        row("headOfOddBytes", "URLSession fails a response whose head it can't read") { place, curl, session in
            place == "error" && curl.text == "none" && session.text == "invalidResponse"
        },
        row("unsupported", "the option is one that URLSession does not have") { place, curl, session in
            place == "error" && curl.text == "none" && session.text == "unsupported"
        },
        row("truncatedGzip", "URLSession takes a gzip body that ends early for whole") { place, curl, session in
            place == "error" && ["truncatedBody", "invalidContentEncoding"].contains(curl.text)
                && session.text == "none"
        },
        row("requestFieldCase", "URLSession changes the case of request header fields") { place, curl, session in
            (place.hasPrefix("json:") || place == "body") && curl.kind == session.kind
                && curl.text.lowercasedASCII.hasSameBytes(as: session.text.lowercasedASCII)
        },
    ]

    private static func row(
        _ name: String, _ reason: String,
        _ applies: @escaping @Sendable (_ place: String, _ curl: PartValue, _ session: PartValue) -> Bool
    ) -> Row {
        Row(difference: KnownDifference(name: name, reason: reason, since: "Swift 6.3"), applies: applies)
    }
}
