import Foundation
import NetworkLayer
import Synchronization

/// The cookies of the sessions of one run. For an endless stream of lines, it keeps the most recently used ones.
final class SessionJars: Sendable {
    /// The most sessions whose cookies are kept.
    static let maximumSessions = 20_000

    private struct State {
        /// By the bytes of their keys: two strings that are equal for Swift may be two sessions.
        var jars: [[UInt8]: (jar: CookieJar, used: Int)] = [:]
        var steps = 0

        mutating func jar(for key: [UInt8]) -> CookieJar {
            steps += 1
            let jar = jars[key]?.jar ?? CookieJar()
            jars[key] = (jar, steps)
            if jars.count > SessionJars.maximumSessions { makeRoom() }
            return jar
        }

        /// Removes a tenth of the jars at once, so that a new session rarely has to search all of them.
        private mutating func makeRoom() {
            let kept = SessionJars.maximumSessions / 10 * 9
            let oldest = jars.values.map(\.used).sorted()[jars.count - kept]
            jars = jars.filter { $0.value.used >= oldest }
        }
    }

    private let state = Guarded(State())
    /// The number of sessions with a jar.
    var count: Int { state.withLock { $0.jars.count } }

    /// Returns the jar of a session; without a session, a new one that is not shared.
    func jar(for session: JSONValue?) -> CookieJar {
        let key: String
        switch session {
        case .string(let text): key = "s" + text
        case .number(let digits): key = "n" + digits
        default: return CookieJar()
        }
        return state.withLock { $0.jar(for: Array(key.utf8)) }
    }
}

extension CookieJar.Cookie {
    /// Reads an entry of `initialCookies`.
    /// - Throws: ``LineProblem`` that names the key, never the value.
    init(_ entry: ObjectReader) throws {
        var reader = entry
        func needed(_ key: String, _ value: String?) throws -> String {
            guard let value else { throw LineProblem("'\(entry.path)\(key)' is missing") }
            return value
        }
        let domain = try needed("domain", reader.string("domain")).lowercased()
        let isDotted = domain.utf8.first == UInt8(ascii: ".")
        let seconds = try reader.integer("expires") ?? 0
        self.init(
            name: try needed("name", reader.string("name")),
            value: try reader.string("value") ?? "",
            domain: isDotted ? String(Substring(domain.utf8.dropFirst())) : domain,
            includesSubdomains: try reader.bool("includeSubdomains") ?? isDotted,
            path: try reader.string("path") ?? "/",
            isSecure: try reader.bool("secure") ?? false,
            isHTTPOnly: try reader.bool("httpOnly") ?? false,
            expires: seconds == 0 ? nil : Date(timeIntervalSince1970: Double(seconds))
        )
        try reader.finish()
    }
}
