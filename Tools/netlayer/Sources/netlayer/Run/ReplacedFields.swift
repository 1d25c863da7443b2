import NetworkLayer
import NetworkRecording

/// Header fields that replace the recorded ones. A secret one goes only with requests that had it when they were
/// recorded: a browser's file has requests to other parties too.
struct ReplacedFields: Sendable {
    private let all: [HTTPField]
    /// Whether all requests go to one origin: then a secret field reaches no other party.
    private let hasOneOrigin: Bool

    /// - Throws: ``ToolFailure`` for a secret field that no request had, if they go to several origins.
    init(_ fields: [HTTPField], for entries: [Recording.Entry] = []) throws {
        all = fields
        let origins = Set(entries.map { Self.origin(of: $0.request.url) })
        hasOneOrigin = origins.count <= 1
        let orphan = fields.first { field in
            SecretFields.contains(field.name) && !entries.contains { $0.request.headerFields.contains(field.name) }
        }
        if let orphan, !hasOneOrigin {
            throw ToolFailure(
                .usage,
                "no recorded request has the field \(orphan.name), and they go to \(origins.count) origins; "
                    + "it would reach all of them")
        }
    }

    /// Returns the fields for one request.
    func of(_ entry: Recording.Entry) -> [HTTPField] {
        all.filter { field in
            !SecretFields.contains(field.name) || hasOneOrigin || entry.request.headerFields.contains(field.name)
        }
    }

    private static func origin(of text: String) -> String {
        guard let url = try? RequestURL(text) else { return text }
        return "\(url.scheme)://\(url.host):\(url.effectivePort)"
    }
}
