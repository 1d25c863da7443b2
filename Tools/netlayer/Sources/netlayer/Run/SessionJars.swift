import Foundation
import JSONText
import NetworkLayer
import Synchronization

/// The cookies of the sessions of one run. For an endless stream of lines, it keeps the most recently used ones.
final class SessionJars: Sendable {
    /// The most sessions whose cookies are kept.
    static let maximumSessions = 20_000
    /// The most bytes of all cookies that are kept.
    static let maximumBytes = 256 << 20
    /// The longest session, in bytes.
    static let maximumKeyBytes = 1_024

    private struct State {
        struct Entry {
            var jar = CookieJar()
            /// The size of the jar's cookies when they were last looked at.
            var bytes = 0
            var used = 0
        }

        let maximumBytes: Int
        /// By the bytes of their keys: two strings that are equal for Swift may be two sessions.
        var jars: [[UInt8]: Entry] = [:]
        /// The size of the cookies of all jars.
        var bytes = 0
        var steps = 0

        mutating func jar(for key: [UInt8]) -> CookieJar {
            steps += 1
            var entry = jars[key] ?? Entry()
            entry.used = steps
            jars[key] = entry
            if jars.count > SessionJars.maximumSessions { makeRoom() }
            return entry.jar
        }

        mutating func note(_ size: Int, of jar: CookieJar, for key: [UInt8]) {
            // Other sessions may have displaced it meanwhile.
            guard var entry = jars[key], entry.jar === jar else { return }
            steps += 1
            bytes += size - entry.bytes
            (entry.bytes, entry.used) = (size, steps)
            jars[key] = entry
            if bytes > maximumBytes { makeRoom() }
        }

        /// Removes the least recently used jars until a tenth of the room is free, so that a new session rarely has to
        /// search all of them. The last one stays, whatever its size.
        private mutating func makeRoom() {
            let (sessions, size) = (SessionJars.maximumSessions / 10 * 9, maximumBytes / 10 * 9)
            for (key, entry) in jars.sorted(by: { $0.value.used < $1.value.used }).dropLast() {
                guard jars.count > sessions || bytes > size else { return }
                jars[key] = nil
                bytes -= entry.bytes
            }
        }
    }

    private let state: Guarded<State>
    /// The number of sessions with a jar.
    var count: Int { state.withLock { $0.jars.count } }
    /// The size of the cookies of all sessions.
    var bytes: Int { state.withLock { $0.bytes } }

    init(maximumBytes: Int = SessionJars.maximumBytes) { state = Guarded(State(maximumBytes: maximumBytes)) }

    /// Checks the length of a line's session.
    /// - Throws: ``LineProblem``.
    static func check(_ session: JSONValue?) throws {
        // The first byte is the kind of the session.
        guard let key = Self.key(of: session), key.count - 1 > maximumKeyBytes else { return }
        throw LineProblem("'session' has more than \(maximumKeyBytes) bytes")
    }

    /// Returns the jar of a session; without a session, a new one that is not shared.
    func jar(for session: JSONValue?) -> CookieJar {
        guard let key = Self.key(of: session) else { return CookieJar() }
        return state.withLock { $0.jar(for: key) }
    }

    /// Looks at the size of a session's cookies, which a call may have changed.
    func note(_ jar: CookieJar, of session: JSONValue?) {
        guard let key = Self.key(of: session) else { return }
        // Not within the lock, on which all lines may wait.
        let size = jar.heldBytes
        state.withLock { $0.note(size, of: jar, for: key) }
    }

    private static func key(of session: JSONValue?) -> [UInt8]? {
        switch session {
        case .string(let text): Array("s\(text)".utf8)
        case .number(let digits): Array("n\(digits)".utf8)
        default: nil
        }
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
