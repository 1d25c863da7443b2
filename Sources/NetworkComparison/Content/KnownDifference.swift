import NetworkCore

/// A difference between the transports that is known and documented, in 'Where the transports differ'.
public struct KnownDifference: Sendable, Hashable {
    /// The name under which the documentation has it.
    public var name: String
    /// Why it is there.
    public var reason: String
    /// With which version it was seen.
    public var since: String

    /// Returns the known difference of which two values of a part are an example; `nil` if it is a new one.
    static func found(
        at place: String, _ left: PartValue, _ right: PartValue, _ kinds: (left: String, right: String),
        sentNames: Set<String>, mayDifferInVersion: Bool
    ) -> KnownDifference? {
        if place == "fieldCase", mayDifferInVersion, isOfVersions(left.text, right.text) { return lowercaseNames }
        guard Set([kinds.left, kinds.right]) == ["curl", "urlsession"] else { return nil }
        // The first value is curl's from here on.
        let (curl, session) = kinds.left == "curl" ? (left, right) : (right, left)
        if let row = rows.first(where: { $0.applies(place, curl, session) }) { return row.difference }
        return repeatsNames(place, curl, session, sentNames.union(addedNames)) ? requestFieldCase : nil
    }

    /// All known differences.
    package static var all: Set<KnownDifference> { Set(rows.map(\.difference) + [lowercaseNames, requestFieldCase]) }

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

    private typealias Rule = @Sendable (_ place: String, _ curl: PartValue, _ session: PartValue) -> Bool

    private static let rows: [(difference: KnownDifference, applies: Rule)] = [
        row("fieldOrder", "URLSession sorts response header fields by name, and joins repeated ones") { place, _, _ in
            place == "fieldOrder"
        },
        row("fieldOrder", "URLSession joins repeated header fields") { place, curl, session in
            place.hasPrefix("field:") && curl.text.contains(byte: UInt8(ascii: "\n"))
                && joined(curl.text).hasSameBytes(as: joined(session.text))
        },
        row("fieldOrder", "URLSession writes names of well-known header fields in its own case: Etag") {
            place, curl, session in
            place == "fieldCase" && areNames(session.text, madeOf: curl.text, leavingOne: false)
        },
        row("repeatedFieldsOfOtherCase", "of names that differ in case alone, URLSession leaves one") {
            place, curl, session in
            place == "fieldCase" && areNames(session.text, madeOf: curl.text, leavingOne: true)
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
    ]

    /// Whether names are what URLSession makes of others; of several that differ in case alone, it may leave one.
    private static func areNames(_ session: String, madeOf curl: String, leavingOne: Bool) -> Bool {
        func forms(_ text: String) -> [String: Set<String>] {
            let names = text.split(separator: ",").map { String($0.drop { $0 == " " }) }
            return Dictionary(grouping: names, by: \.lowercasedASCII).mapValues { Set($0) }
        }
        let (sent, shown) = (forms(curl), forms(session))
        guard sent.keys == shown.keys else { return false }
        return sent.allSatisfy { name, sent in
            guard let shown = shown[name], shown != sent else { return true }
            if leavingOne, sent.count > 1, shown.count == 1 { return true }
            return shown.count == 1 && shown.first == ownForms[name] ?? titleCase(name)
        }
    }

    /// Well-known names that URLSession does not write with a capital letter at the start of each word.
    private static let ownForms = ["www-authenticate": "WWW-Authenticate"]

    /// Returns a name with a capital letter at the start of each word; `nil` for one that is not well-known.
    private static func titleCase(_ name: String) -> String? {
        guard !name.hasBytePrefix("x-") else { return nil }
        return name.split(separator: "-", omittingEmptySubsequences: false)
            .map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined(separator: "-")
    }

    private static let requestFieldCase = KnownDifference(
        name: "requestFieldCase", reason: "URLSession changes the case of request header fields", since: "Swift 6.3")

    /// The header fields that the library and libcurl add to requests.
    private static let addedNames: Set<String> = [
        "accept", "accept-encoding", "accept-language", "authorization", "connection", "content-length", "content-type",
        "expect", "host", "transfer-encoding", "user-agent",
    ]

    /// Whether a response repeats header fields of its request, and their names differ in case alone.
    private static func repeatsNames(
        _ place: String, _ curl: PartValue, _ session: PartValue, _ names: Set<String>
    ) -> Bool {
        guard place.hasBytePrefix("json:") || place == "body", curl.kind == session.kind,
            curl.text.lowercasedASCII.hasSameBytes(as: session.text.lowercasedASCII)
        else { return false }
        func words(_ text: String) -> [Substring] {
            text.utf8.split { byte in
                byte != UInt8(ascii: "-") && byte != UInt8(ascii: "_") && !(0x30...0x39).contains(byte)
                    && !(0x61...0x7A).contains(byte | 0x20)
            }.map { text[$0.startIndex..<$0.endIndex] }
        }
        return zip(words(curl.text), words(session.text)).allSatisfy { left, right in
            left.hasSameBytes(as: right) || names.contains(left.lowercasedASCII)
        }
    }

    /// Returns the values of a repeated field as one.
    private static func joined(_ text: String) -> String { text.replacing(ascii: [UInt8(ascii: "\n"): ", "]) }

    private static func row(
        _ name: String, _ reason: String, _ applies: @escaping Rule
    ) -> (KnownDifference, Rule) {
        (KnownDifference(name: name, reason: reason, since: "Swift 6.3"), applies)
    }
}
