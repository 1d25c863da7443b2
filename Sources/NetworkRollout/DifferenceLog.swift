import FoundationEssentials
import Logging
import NetworkCore
import Synchronization

/// Logs differences, each kind once for a host, without the values of bodies: a log is no place for what users send.
final class DifferenceLog: Sendable {
    /// The most kinds that are logged: a server may make up names of fields.
    private static let maximumKinds = 100

    private let logger: Logger
    private let arms: (primary: String, shadow: String)
    /// The digests of what was logged: the server chooses the names of places, and their lengths.
    private let kinds = Guarded(Set<[UInt8]>())

    init(_ logger: Logger, arms: (primary: String, shadow: String)) { (self.logger, self.arms) = (logger, arms) }

    func add(_ difference: ShadowTransport.Difference) {
        guard isNew(difference) else { return }
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
            "the shadow \(arms.shadow) differs from \(arms.primary): \(difference)",
            metadata: [
                "http.request.method": "\(difference.request.method.rawValue)",
                "url.full": "\(difference.request.url)",
                "differences": .array(places),
            ])
    }

    private func isNew(_ difference: ShadowTransport.Difference) -> Bool {
        var sum = SHA256Checksum()
        for name in [difference.request.url.authority] + difference.places.map(\.name) {
            sum.update(Data("\(name)\n".utf8))
        }
        let kind = sum.finish()
        return kinds.withLock { $0.count < Self.maximumKinds && $0.insert(kind).inserted }
    }
}
