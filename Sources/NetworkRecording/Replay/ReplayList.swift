import NetworkCore

/// The entries of a recording, those that were given, and the requests without one.
struct ReplayList: Sendable {
    /// The entries, in the order in which they began.
    let entries: [Recording.Entry]
    private let byKey: [Key: [Int]]
    /// The same as ``byKey`` where the forms don't count.
    private let byURL: [String: [Int]]
    /// The URLs of the entries among which the nearest ones are looked for.
    private let urls: [RequestURL?]
    private let repeatsLast: Bool
    private var given: [Int]
    /// For each key, how many of its entries were given, from the first one on without a gap.
    private var passed: [Key: Int] = [:]
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
            let key = Key(request, isStrict: isStrict)
            guard isStrict, let body = request.withoutOtherBody else { return [key] }
            return [key, Key(body, isStrict: true)]
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
        byKey = Dictionary(grouping: entries.indices) { keys[$0] }
        byURL = Dictionary(grouping: entries.indices) { keys[$0].url }
        urls = entries.prefix(Self.searchedEntries).map { try? RequestURL($0.request.url) }
        given = Array(repeating: 0, count: entries.count)
    }

    /// Returns the entries that match a request, in order.
    func entries(of keys: [Key]) -> [Int] { keys.flatMap { byKey[$0] ?? [] } }

    /// Takes the first entry that matches a request and was not given, or the last one if it may be repeated.
    mutating func take(_ keys: [Key]) -> Recording.Entry? {
        for key in keys {
            // Otherwise each request would pass all that were given.
            let (same, next) = (byKey[key] ?? [], passed[key, default: 0])
            guard next < same.count else { continue }
            passed[key] = next + 1
            return give(same[next])
        }
        return give(repeatsLast ? entries(of: keys).last : nil)
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
        if unexpected.count < Self.maximumUnexpected { unexpected.append("\(request)") } else { unlisted += 1 }
        let nearest = nearestEntries(to: request)
        let texts = nearest.map { near in
            let entry = entries[near.index].request
            return "\(entry) (\(reason(near, request, isMatching: matching.contains(near.index), strict)))"
        }
        let list = texts.isEmpty ? "nothing" : texts.joined(separator: "; ")
        let more = entries.count > nearest.count ? "; and \(entries.count - nearest.count) others" : ""
        return NetworkError(
            .notRecorded, "\(request) is not recorded; recorded are: \(list)\(more)", phase: .preparing)
    }

    private static let shownEntries = 3
    /// The most entries of other URLs among which the nearest ones are looked for.
    private static let searchedEntries = 10_000
    /// The most requests without an entry that are listed.
    private static let maximumUnexpected = 1_000

    /// The entries that were not given, and the requests without one; last, how many of those are not listed.
    var problems: [String] {
        let rest = unlisted > 0 ? ["and \(unlisted) more, sent and not recorded"] : []
        return unexpected.map { "\($0) was sent and is not recorded" }
            + entries.indices.filter { given[$0] == 0 }.map { "\(entries[$0].request) was recorded and not sent" }
            + rest
    }

    // MARK: Near entries

    /// An entry, and how far it is from a request: 0 for the same method and URL.
    private typealias NearEntry = (index: Int, distance: Int)

    /// Returns the entries that are nearest to a request, the nearest first.
    private func nearestEntries(to request: Recording.Request) -> [NearEntry] {
        let same = (byURL[RequestComparison.key(of: request)] ?? []).prefix(Self.shownEntries)
        var nearest: [NearEntry] = same.map { ($0, 0) }
        guard nearest.count < Self.shownEntries else { return nearest }
        let other = try? RequestURL(request.url)
        for index in urls.indices where !same.contains(index) {
            let far = distance(index, request, other)
            // Of entries that are as far, the first one is before the others.
            let place = nearest.firstIndex { $0.distance > far } ?? nearest.endIndex
            guard place < Self.shownEntries else { continue }
            nearest.insert((index, far), at: place)
            if nearest.count > Self.shownEntries { nearest.removeLast() }
        }
        return nearest
    }

    /// Returns how far an entry with another method or URL is from a request.
    /// - Parameter other: The URL of the request.
    private func distance(_ index: Int, _ request: Recording.Request, _ other: RequestURL?) -> Int {
        guard let url = urls[index], let other else { return 9 }
        let isSameMethod = entries[index].request.method == request.method
        if url.authority == other.authority, url.path == other.path { return isSameMethod ? 1 : 2 }
        if url.path == other.path { return isSameMethod ? 3 : 4 }
        return url.authority == other.authority ? 5 : 6
    }

    /// Returns why an entry was not given.
    private func reason(
        _ near: NearEntry, _ request: Recording.Request, isMatching: Bool, _ strict: Bool
    ) -> String {
        if isMatching { return "given already" }
        switch near.distance {
        case 0:
            let difference = strict ? RequestComparison.difference(entries[near.index].request, request) : nil
            return difference ?? "does not match"
        case 1: return "another query"
        case 2, 4: return "another method"
        case 3: return "another host"
        default: return "another URL"
        }
    }
}
