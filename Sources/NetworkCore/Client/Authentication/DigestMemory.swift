import HTTPTypes
import Synchronization

/// The nonces that servers and proxies have given, for the next requests with the same credentials over the same kind
/// of connection (RFC 7616 §3.3): these go out with credentials at once, and not first without.
package final class DigestMemory: Sendable {
    /// Whose nonce it is, and whose credentials. Compared byte by byte.
    struct Place: Hashable, Sendable {
        private let challenger: String
        private let user: [UInt8]
        private let password: [UInt8]
        private let connection: TransportOptions

        init(
            _ challenger: String, _ credentials: TransportOptions.Authentication.Challenged, _ options: TransportOptions
        ) {
            self.challenger = challenger
            (user, password) = (Array(credentials.user.utf8), Array(credentials.password.utf8))
            connection = options.ofConnection
        }
    }

    struct Entry: Sendable {
        fileprivate var challenge: DigestChallenge
        fileprivate let clientNonce: String
        fileprivate var count = 0

        init(_ challenge: DigestChallenge) {
            self.challenge = challenge
            clientNonce = (0..<2).map { _ in String(UInt64.random(in: 1 << 60 ... .max), radix: 16) }.joined()
        }

        fileprivate init?(_ entry: Entry, nonce: String) {
            guard let challenge = entry.challenge.following(nonce: nonce) else { return nil }
            (self.challenge, clientNonce) = (challenge, entry.clientNonce)
        }

        /// Returns the credentials for one more request, with the next count; `nil` if they would be too long.
        mutating func next(
            _ credentials: TransportOptions.Authentication.Challenged, for request: TransportRequest
        ) -> String? {
            count += 1
            let value = challenge.authorization(
                user: credentials.user, password: credentials.password, method: request.method.rawValue,
                target: request.url.target, clientNonce: clientNonce, count: count)
            // With a long target the response to the challenge may be too long to be sent.
            return HTTPField.problem(withValue: value) == nil ? value : nil
        }
    }

    private let entries = Guarded<[Place: Entry]>([:])
    /// The number of places to remember; one more, and all are asked anew.
    private static let maximum = 1_024

    package init() {}

    /// Keeps a nonce that has been accepted: others use it with the counts after the first one.
    func remember(_ entry: Entry, at place: Place) {
        entries.withLock { entries in
            if entries.count >= Self.maximum, entries[place] == nil { entries = [:] }
            entries[place] = entry
        }
    }

    func forget(_ place: Place) { entries.withLock { $0[place] = nil } }

    /// Takes the nonce that a response wants in the next request, in `Authentication-Info` (RFC 7616 §3.5).
    func take(info: String, at place: Place) {
        // The field has parameters alone.
        guard let next = AuthenticationChallenge.all(in: "Digest " + info).first?["nextnonce"] else { return }
        entries.withLock { entries in
            if let entry = entries[place] { entries[place] = Entry(entry, nonce: next) }
        }
    }

    /// Returns the credentials for a request, with the next count of the nonce; `nil` without a nonce for its URL.
    func credentials(
        _ credentials: TransportOptions.Authentication.Challenged, for request: TransportRequest, at place: Place
    ) -> String? {
        var next: Entry? = entries.withLock { entries in
            guard let entry = entries[place], entry.challenge.hasQuality else { return nil }
            entries[place]?.count += 1
            return entry
        }
        return next?.next(credentials, for: request)
    }
}

/// A transport whose requests may share the nonces of servers and proxies.
package protocol RemembersNonces {
    var nonces: DigestMemory { get }
}
