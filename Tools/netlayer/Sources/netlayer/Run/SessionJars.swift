import JSONText
import NetworkLayer

/// The cookies of the sessions of one run. For an endless stream of lines, it keeps the most recently used ones.
final class SessionJars: Sendable {
    static let maximumSessions = 20_000
    /// The longest session, in bytes.
    private static let maximumKeyBytes = 1_024

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
        var bytes = 0
        var steps = 0

        /// Keeps an entry that is used now. If there are too many, removes the least recently used ones until a tenth
        /// of the room is free, so that a new session rarely has to search all of them. The last one stays, whatever
        /// its size.
        mutating func keep(_ entry: Entry, for key: [UInt8]) {
            steps += 1
            bytes += entry.bytes - (jars[key]?.bytes ?? 0)
            jars[key] = entry
            jars[key]?.used = steps
            guard jars.count > SessionJars.maximumSessions || bytes > maximumBytes else { return }
            let (sessions, size) = (SessionJars.maximumSessions / 10 * 9, maximumBytes / 10 * 9)
            for (key, entry) in jars.sorted(by: { $0.value.used < $1.value.used }).dropLast() {
                guard jars.count > sessions || bytes > size else { return }
                jars[key] = nil
                bytes -= entry.bytes
            }
        }
    }

    private let state: Guarded<State>
    // For tests.
    var count: Int { state.withLock { $0.jars.count } }
    var bytes: Int { state.withLock { $0.bytes } }

    init(maximumBytes: Int = 256 << 20) { state = Guarded(State(maximumBytes: maximumBytes)) }

    static func check(_ session: JSONValue?) throws {
        // The first byte is the kind of the session.
        guard let key = Self.key(of: session), key.count - 1 > maximumKeyBytes else { return }
        throw LineProblem("'session' has more than \(maximumKeyBytes) bytes")
    }

    /// Returns the jar of a session; without a session, a new one that is not shared.
    func jar(for session: JSONValue?) -> CookieJar {
        guard let key = Self.key(of: session) else { return CookieJar() }
        return state.withLock { state in
            let entry = state.jars[key] ?? State.Entry()
            state.keep(entry, for: key)
            return entry.jar
        }
    }

    /// Looks at the size of a session's cookies, which a call may have changed.
    func note(_ jar: CookieJar, of session: JSONValue?) {
        guard let key = Self.key(of: session) else { return }
        // Not within the lock, on which all lines may wait.
        let size = jar.heldBytes
        state.withLock { state in
            // Other sessions may have displaced it meanwhile.
            guard var entry = state.jars[key], entry.jar === jar else { return }
            entry.bytes = size
            state.keep(entry, for: key)
        }
    }

    private static func key(of session: JSONValue?) -> [UInt8]? {
        switch session {
        case .string(let text): Array("s\(text)".utf8)
        case .number(let digits): Array("n\(digits)".utf8)
        default: nil
        }
    }
}
