import NetworkCore

/// The keys of JSON objects that change from response to response: identifiers, dates. What is below such a key is in
/// no second response, so by itself it would differ between any two arms.
///
/// An object has such keys if the two copies of the first arm have keys that the other copy never has. A key that only
/// one arm has is one of these unless it is in many more of its responses than they are.
struct VolatileKeys {
    /// The objects with such keys, and the largest share of responses that one of these keys is in.
    private(set) var setAside: [PartName: Double] = [:]
    private var belonging: Set<PartName> = []

    /// How many times as many responses a key of one arm may be in.
    private static let factor = 3.0

    init(
        _ first: ContentTally, copy: ContentTally?, _ other: ContentTally, places: Set<PartName>, status: Int
    ) {
        guard let copy else { return }
        let json = places.filter { $0.text.hasBytePrefix("json:") }
        func own(_ tally: ContentTally) -> [PartName: Double] {
            json.reduce(into: [:]) { shares, place in
                let share = tally.tally(of: place, status: status).presentShare
                if share > 0 { shares[place] = share }
            }
        }
        let (firsts, copies, others) = (own(first), own(copy), own(other))
        let (firstPaths, copyPaths, otherPaths) = (Self.paths(firsts), Self.paths(copies), Self.paths(others))
        var changing: [PartName: Double] = [:]
        for (shares, paths) in [(firsts, copyPaths), (copies, firstPaths)] {
            for (place, share) in shares {
                guard let parent = Self.parent(of: place, missingIn: paths) else { continue }
                changing[parent] = max(changing[parent] ?? 0, share)
            }
        }
        let basePaths = firstPaths.union(copyPaths)
        for place in json {
            let share = max(firsts[place] ?? 0, copies[place] ?? 0, others[place] ?? 0)
            let isOthers = others[place] != nil
            guard let parent = Self.parent(of: place, missingIn: isOthers ? basePaths : otherPaths),
                let usual = changing[parent], share <= Self.factor * usual
            else { continue }
            belonging.insert(place)
            setAside[parent] = usual
        }
    }

    /// Whether a place is below a key that changes.
    func belongs(_ place: PartName) -> Bool { belonging.contains(place) }

    /// Returns all places and those above them.
    private static func paths(_ places: [PartName: Double]) -> Set<PartName> {
        places.keys.reduce(into: []) { paths, place in
            var path = Substring(place.text)
            while paths.insert(PartName(String(path))).inserted, let above = Self.above(path) { path = above }
        }
    }

    private static func above(_ path: Substring) -> Substring? {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[..<$0] }
    }

    /// Returns the lowest place above a place that is among some paths; `nil` if the place itself is.
    private static func parent(of place: PartName, missingIn paths: Set<PartName>) -> PartName? {
        guard !paths.contains(place) else { return nil }
        var path = Substring(place.text)
        while let above = above(path) {
            let name = PartName(String(above))
            if paths.contains(name) { return name }
            path = above
        }
        return nil
    }
}
