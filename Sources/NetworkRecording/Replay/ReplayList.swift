import NetworkCore

/// The entries of a recording, those that were given, and the requests without one.
struct ReplayList: Sendable {
    /// The entries, in the order in which they began.
    let entries: [Recording.Entry]
    private let byURL: [String: [Int]]
    private let repeatsLast: Bool
    /// The entries that were not given. The last one of a key stays if it may be repeated.
    private var left: [Key: ArraySlice<Int>]
    private var given: Set<Int> = []
    private var unexpected: [String] = []
    /// How many more requests had no entry than are listed.
    private var unlisted = 0

    /// What requests that match have in common.
    struct Key: Hashable, Sendable {
        /// The method and the URL.
        let url: String
        fileprivate let form: RequestComparison.Form?

        /// - Parameter isStrict: Whether the fields and the body count.
        init(_ request: Recording.Request, isStrict: Bool) {
            url = RequestComparison.key(of: request)
            form = isStrict ? RequestComparison.Form(of: request) : nil
        }

        /// Returns the keys of a request whose body may have been recorded or left out.
        static func all(of request: Recording.Request, isStrict: Bool) -> [Key] {
            let bare = isStrict ? request.withoutOtherBody : nil
            return [request, bare].compactMap { $0.map { Key($0, isStrict: isStrict) } }
        }
    }

    init(_ recording: Recording, repeatsLast: Bool, isStrict: Bool = false) {
        self.repeatsLast = repeatsLast
        // Stable: entries of the same millisecond stay in the order of the file.
        let order = recording.entries.enumerated().sorted {
            ($0.element.started, $0.offset) < ($1.element.started, $1.offset)
        }
        let entries = order.map { entry in
            var shown = entry.element
            shown.redactSecrets(bodies: .all)
            return shown
        }
        self.entries = entries
        let keys = entries.map { Key($0.request, isStrict: isStrict) }
        left = Dictionary(grouping: entries.indices) { keys[$0] }.mapValues { $0[...] }
        byURL = Dictionary(grouping: entries.indices) { keys[$0].url }
    }

    /// Takes the first entry that matches a request and was not given, or the last one if it may be repeated.
    mutating func take(_ keys: [Key]) -> Recording.Entry? {
        func next(_ key: Key) -> Int? { left[key]?.first }
        let new = keys.first { next($0).map { !given.contains($0) } ?? false }
        guard let key = new ?? keys.last(where: { next($0) != nil }), let index = next(key) else { return nil }
        if !repeatsLast || left[key]?.count != 1 { left[key]?.removeFirst() }
        return give(index)
    }

    /// Takes the first of the matching entries that was not given, or the last one if it may be repeated.
    mutating func take(_ matching: [Int]) -> Recording.Entry? {
        (matching.first { !given.contains($0) } ?? (repeatsLast ? matching.last : nil)).map { give($0) }
    }

    private mutating func give(_ index: Int) -> Recording.Entry {
        given.insert(index)
        return entries[index]
    }

    private static let shownEntries = 3
    /// The most entries of other URLs among which the nearest ones are looked for.
    private static let searchedEntries = 1_000
    /// The most requests without an entry that are listed.
    private static let maximumUnexpected = 1_000

    /// Records that no entry is left of those that match by a rule, if any. The error names the nearest entries.
    mutating func miss(
        _ request: Recording.Request, strict: Bool = false, matching: [Int]? = nil
    ) -> NetworkError {
        if unexpected.count < Self.maximumUnexpected { unexpected.append("\(request)") } else { unlisted += 1 }
        let same = Array((byURL[RequestComparison.key(of: request)] ?? []).prefix(Self.shownEntries))
        func text(_ index: Int, _ difference: String?) -> String {
            let isGiven = matching?.contains(index) ?? (difference == nil)
            return "\(entries[index].request) (\(isGiven ? "given already" : difference ?? "does not match"))"
        }
        var nearest = same.map { index in
            text(index, strict ? RequestComparison.difference(entries[index].request, request) : nil)
        }
        let url = try? RequestURL(request.url)
        let others = entries.indices.prefix(Self.searchedEntries).filter { !same.contains($0) }.map { index in
            (index: index, difference: Self.difference(entries[index].request, request.method, url))
        }
        // Of entries that are as far, the first one is before the others.
        let sorted = others.sorted { ($0.difference.rank, $0.index) < ($1.difference.rank, $1.index) }
        for other in sorted.prefix(Self.shownEntries - same.count) {
            nearest.append(text(other.index, "another \(other.difference.text)"))
        }
        let list = nearest.isEmpty ? "nothing" : nearest.joined(separator: "; ")
        let more = entries.count > nearest.count ? "; and \(entries.count - nearest.count) others" : ""
        return NetworkError(
            .notRecorded, "\(request) is not recorded; recorded are: \(list)\(more)", phase: .preparing)
    }

    /// Returns how far an entry with another method or URL is from a request, and what differs.
    private static func difference(
        _ entry: Recording.Request, _ method: HTTPRequest.Method, _ other: RequestURL?
    ) -> (rank: Int, text: String) {
        guard let url = try? RequestURL(entry.url), let other else { return (9, "URL") }
        let isSameHost = url.authority == other.authority
        guard url.path == other.path else { return (isSameHost ? 5 : 6, "URL") }
        guard entry.method == method else { return (isSameHost ? 2 : 4, "method") }
        return isSameHost ? (1, "query") : (3, "host")
    }

    /// The entries that were not given, and the requests without one; last, how many of those are not listed.
    var problems: [String] {
        let rest = unlisted > 0 ? ["and \(unlisted) more, sent and not recorded"] : []
        return unexpected.map { "\($0) was sent and is not recorded" }
            + entries.indices.filter { !given.contains($0) }.map { "\(entries[$0].request) was recorded and not sent" }
            + rest
    }
}
