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

        /// - Parameter challenger: The server's origin, or the proxy's URL.
        init(
            _ challenger: String, _ credentials: TransportOptions.Authentication.Challenged, _ options: TransportOptions
        ) {
            self.challenger = challenger
            (user, password) = (Array(credentials.user.utf8), Array(credentials.password.utf8))
            connection = options.ofConnection
        }
    }

    private struct Entry: Sendable {
        var challenge: DigestChallenge
        let clientNonce: String
        var count = 0
    }

    private let entries = Guarded<[Place: Entry]>([:])
    /// The number of places to remember; one more, and all are asked anew.
    private static let maximum = 1_024

    package init() {}

    func remember(_ challenge: DigestChallenge, at place: Place) {
        let nonce = (0..<2).map { _ in String(UInt64.random(in: 1 << 60 ... .max), radix: 16) }.joined()
        entries.withLock { entries in
            if entries.count >= Self.maximum, entries[place] == nil { entries = [:] }
            entries[place] = Entry(challenge: challenge, clientNonce: nonce)
        }
    }

    func forget(_ place: Place) { entries.withLock { $0[place] = nil } }

    /// Takes the nonce that a response wants in the next request, in `Authentication-Info` (RFC 7616 §3.5).
    func take(info: String, at place: Place) {
        // The field has parameters alone.
        guard let next = AuthenticationChallenge.all(in: "Digest " + info).first?["nextnonce"] else { return }
        entries.withLock { entries in
            guard let entry = entries[place] else { return }
            entries[place] = entry.challenge.following(nonce: next).map {
                Entry(challenge: $0, clientNonce: entry.clientNonce)
            }
        }
    }

    /// Returns the credentials for a request, with the next count of the nonce; `nil` without a nonce.
    /// - Parameter isAnswer: Whether the request follows the challenge.
    func credentials(
        _ credentials: TransportOptions.Authentication.Challenged, for request: TransportRequest, at place: Place,
        isAnswer: Bool
    ) -> String? {
        let next: Entry? = entries.withLock { entries in
            guard let entry = entries[place], isAnswer || entry.challenge.covers(request.url) else { return nil }
            entries[place]?.count += 1
            return entries[place]
        }
        guard let next else { return nil }
        let value = next.challenge.authorization(
            user: credentials.user, password: credentials.password, method: request.method.rawValue,
            target: request.url.target, clientNonce: next.clientNonce, count: next.count)
        // With a long target the response to the challenge may be too long to be sent.
        return HTTPField.problem(withValue: value) == nil ? value : nil
    }
}

/// A transport whose requests may share the nonces of servers and proxies.
package protocol RemembersNonces {
    var nonces: DigestMemory { get }
}
