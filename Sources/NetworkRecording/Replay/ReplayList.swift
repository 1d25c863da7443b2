import NetworkCore

/// The entries of a recording, those that were given, and the requests without one.
struct ReplayList: Sendable {
    /// The entries, in the order in which they began.
    let entries: [Recording.Entry]
    private let byKey: [String: [Int]]
    private let repeatsLast: Bool
    private var given: [Int]
    /// For each key, how many of its entries were given, from the first one on without a gap.
    private var passed: [String: Int] = [:]
    private var unexpected: [String] = []

    init(_ recording: Recording, repeatsLast: Bool) {
        self.repeatsLast = repeatsLast
        // Stable: entries of the same millisecond stay in the order of the file.
        let order = recording.entries.enumerated().sorted {
            ($0.element.started, $0.offset) < ($1.element.started, $1.offset)
        }
        let entries = order.map { entry in
            var shown = entry.element
            shown.redactSecrets()
            return shown
        }
        self.entries = entries
        byKey = Dictionary(grouping: entries.indices) { RequestComparison.key(of: entries[$0].request) }
        given = Array(repeating: 0, count: entries.count)
    }

    /// Returns the entries with the method and the URL of a request, in order.
    func entries(of request: Recording.Request) -> [Int] { byKey[RequestComparison.key(of: request)] ?? [] }

    /// Takes the first entry with the method and the URL of a request that was not given, or the last one if it may be
    /// repeated.
    /// - Parameter matches: Whether an entry with that method and URL counts.
    mutating func take(for request: Recording.Request, where matches: (Recording.Request) -> Bool) -> Recording.Entry? {
        let key = RequestComparison.key(of: request)
        let same = byKey[key] ?? []
        // Otherwise each request would pass all that were given.
        var start = passed[key, default: 0]
        while start < same.count, given[same[start]] > 0 { start += 1 }
        passed[key] = start
        let next = same[start...].first { given[$0] == 0 && matches(entries[$0].request) }
        return give(next ?? (repeatsLast ? same.last { matches(entries[$0].request) } : nil))
    }

    /// Takes the first entry that was not given, or the last one if it may be repeated.
    /// - Parameter matching: The entries that match.
    mutating func take(_ matching: [Int]) -> Recording.Entry? {
        give(matching.first { given[$0] == 0 } ?? (repeatsLast ? matching.last : nil))
    }

    private mutating func give(_ index: Int?) -> Recording.Entry? {
        guard let index else { return nil }
        given[index] += 1
        return entries[index]
    }

    /// Records that there is no entry for a request.
    /// - Parameter matching: The entries that match, all of which were given.
    /// - Returns: The error that names the request and the nearest entries.
    mutating func miss(_ request: Recording.Request, _ matching: [Int], strict: Bool) -> NetworkError {
        unexpected.append("\(request)")
        let nearest = entries.indices.map { (index: $0, distance: distance($0, request)) }
            .sorted { ($0.distance, $0.index) < ($1.distance, $1.index) }.prefix(Self.shownEntries)
        let texts = nearest.map { near in
            let entry = entries[near.index].request
            return "\(entry) (\(reason(near.index, request, isMatching: matching.contains(near.index), strict)))"
        }
        let list = texts.isEmpty ? "nothing" : texts.joined(separator: "; ")
        let more = entries.count > nearest.count ? "; and \(entries.count - nearest.count) others" : ""
        return NetworkError(
            .notRecorded, "\(request) is not recorded; recorded are: \(list)\(more)", phase: .preparing)
    }

    private static let shownEntries = 3

    /// The entries that were not given, and the requests without one.
    var problems: [String] {
        unexpected.map { "\($0) was sent and is not recorded" }
            + entries.indices.filter { given[$0] == 0 }.map { "\(entries[$0].request) was recorded and not sent" }
    }

    // MARK: Near entries

    /// Returns how far an entry is from a request: 0 for the same method and URL.
    private func distance(_ index: Int, _ request: Recording.Request) -> Int {
        let entry = entries[index].request
        if RequestComparison.key(of: entry) == RequestComparison.key(of: request) { return 0 }
        let isSameMethod = entry.method == request.method
        guard let url = try? RequestURL(entry.url), let other = try? RequestURL(request.url) else { return 9 }
        if url.authority == other.authority, url.path == other.path { return isSameMethod ? 1 : 2 }
        if url.path == other.path { return isSameMethod ? 3 : 4 }
        return url.authority == other.authority ? 5 : 6
    }

    /// Returns why an entry was not given.
    private func reason(
        _ index: Int, _ request: Recording.Request, isMatching: Bool, _ strict: Bool
    ) -> String {
        if isMatching { return "given already" }
        switch distance(index, request) {
        case 0:
            let difference = strict ? RequestComparison.difference(entries[index].request, request) : nil
            return difference ?? "does not match"
        case 1: return "another query"
        case 2, 4: return "another method"
        case 3: return "another host"
        default: return "another URL"
        }
    }
}
