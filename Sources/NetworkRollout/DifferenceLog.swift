import FoundationEssentials
import Logging
import NetworkComparison
import NetworkCore
import Synchronization

/// Logs differences, each kind for a host at its occurrences 1, 10, 100 …, without what users send: values of bodies.
final class DifferenceLog: Sendable {
    /// The most kinds that are logged: a server may make up names of fields.
    private static let maximumKinds = 100

    private let logger: Logger
    private let arms: (primary: String, shadow: String)
    /// Occurrences by hash: the server chooses the names of places, and their lengths.
    private let kinds = Guarded([Int: Int]())

    init(_ logger: Logger, arms: (primary: String, shadow: String)) { (self.logger, self.arms) = (logger, arms) }

    func add(_ difference: ShadowTransport.Difference) {
        let (occurrences, compared) = (count(difference), difference.compared)
        guard Self.isPowerOfTen(occurrences) else { return }
        let places = difference.places.prefix(ShadowTransport.Difference.mostShownPlaces).map { place in
            var entries: Logger.Metadata = ["name": "\(place.shownName)", "known": "\(place.known ?? "no")"]
            if place.showsValues {
                entries["primary"] = "\(place.primary)"
                entries["shadow"] = "\(place.shadow)"
            }
            return Logger.MetadataValue.dictionary(entries)
        }
        logger.log(
            level: difference.isKnown ? .info : .warning,
            """
            the shadow \(arms.shadow) differs from \(arms.primary) in \(occurrences) of \(compared) compared responses \
            (\(ContentDifference.percent(Double(occurrences) / Double(max(1, compared))))): \(difference)
            """,
            metadata: [
                "http.request.method": "\(difference.request.method.rawValue)",
                "url.full": "\(difference.request.url)",
                "differences": .array(places),
                "occurrences": "\(occurrences)", "compared": "\(compared)",
            ])
    }

    /// Returns how often the kind of a difference has occurred; 0 for one too many.
    private func count(_ difference: ShadowTransport.Difference) -> Int {
        let kind = ([difference.request.url.authority] + difference.places.map(\.name)).hashValue
        return kinds.withLock { kinds in
            guard kinds.count < Self.maximumKinds || kinds[kind] != nil else { return 0 }
            kinds[kind, default: 0] += 1
            return kinds[kind, default: 0]
        }
    }

    private static func isPowerOfTen(_ number: Int) -> Bool {
        var rest = number
        while rest >= 10, rest % 10 == 0 { rest /= 10 }
        return rest == 1
    }
}
