import Foundation
import NetworkLayer
import Synchronization

/// The cookies of the sessions of one run.
final class SessionJars: Sendable {
    private let jars = Guarded<[String: CookieJar]>([:])

    /// The jar of a session; without a session, one that nobody shares.
    func jar(for session: JSONValue?) -> CookieJar {
        let key: String
        switch session {
        case .string(let text): key = "s" + text
        case .number(let digits): key = "n" + digits
        default: return CookieJar()
        }
        return jars.withLock { jars in
            if let jar = jars[key] { return jar }
            let jar = CookieJar()
            jars[key] = jar
            return jar
        }
    }
}

extension Cookie {
    /// An entry of `initialCookies`.
    /// - Throws: ``LineProblem`` that names the key, never the value.
    init(_ entry: ObjectReader) throws {
        var reader = entry
        func needed(_ key: String, _ value: String?) throws -> String {
            guard let value else { throw LineProblem("'\(entry.path)\(key)' is missing") }
            return value
        }
        let domain = try needed("domain", reader.string("domain")).lowercased()
        let isDotted = domain.hasPrefix(".")
        let seconds = try reader.integer("expires") ?? 0
        self.init(
            name: try needed("name", reader.string("name")),
            value: try reader.string("value") ?? "",
            domain: isDotted ? String(domain.dropFirst()) : domain,
            includesSubdomains: try reader.bool("includeSubdomains") ?? isDotted,
            path: try reader.string("path") ?? "/",
            isSecure: try reader.bool("secure") ?? false,
            isHTTPOnly: try reader.bool("httpOnly") ?? false,
            expires: seconds == 0 ? nil : Date(timeIntervalSince1970: Double(seconds))
        )
        try reader.finish()
    }
}
