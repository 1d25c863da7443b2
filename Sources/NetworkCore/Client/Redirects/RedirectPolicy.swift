public import HTTPTypes

/// Which redirects a ``NetworkClient`` follows.
///
/// The rules are the same over every transport. 301 and 302 turn POST into GET, 303 turns everything but HEAD into GET,
/// 307 and 308 keep method and body. A body that is dropped takes the `Content-…` fields with it. When the origin
/// (scheme, host, port) changes, ``SecretFields``, ``TransportOptions/secretFields``, `Host`, `Referer`,
/// ``TransportOptions/authentication``, the client certificate and ``TransportOptions/TLS/serverName`` stay behind, for
/// the rest of the call; so do user and password of the URL.
///
/// Three things are no redirect, and their answer is handed back as it is: 300, 304, 305 and 306; a `Location` that is
/// missing, given twice or no URL that ``RequestURL`` accepts; and a body that would have to be sent again and can't be
/// (``TransportRequest/Body/isReplayable``). A `Location` with user and password is such a URL: browsers and curl use
/// these, but a server is not to choose what a request identifies itself by (RFC 9110 §4.2.4).
///
/// ```swift
/// client.redirects = .deciding { proposal in
///     proposal.redirect.to.host.hasSuffix(".example.com") ? .follow(proposal.request) : .refuse("not one of ours")
/// }
/// ```
public struct RedirectPolicy: Sendable {
    /// The most redirects of one attempt, 20 by default. One more fails with ``NetworkError/Code/tooManyRedirects``.
    public var maximum = 20
    /// Whether https may lead to http. Not by default: it fails with ``NetworkError/Code/redirectRefused``.
    public var allowsDowngrade = false
    /// The statuses of 301, 302 and 303 that keep method and body, as 307 and 308 do. None by default.
    public var keepsMethodOn: Set<Int> = []

    let isOn: Bool
    let decide: (@Sendable (Proposal) async throws -> Decision)?

    /// Follows by the rules.
    public static let standard = RedirectPolicy(isOn: true, decide: nil)

    /// Follows none: a 302 is a response.
    public static let none = RedirectPolicy(isOn: false, decide: nil)

    /// Follows what a decision allows, of what the rules allow. What it throws reaches the caller as it is. At the
    /// call's deadline it is cancelled and waited for.
    public static func deciding(
        _ decide: @escaping @Sendable (Proposal) async throws -> Decision
    ) -> RedirectPolicy {
        RedirectPolicy(isOn: true, decide: decide)
    }
}

extension RedirectPolicy {
    /// A redirect that the rules allow, before it is followed.
    public struct Proposal: Sendable {
        /// From where to where, and how.
        public let redirect: Redirect
        /// The request that would follow, secrets of another origin taken out. What is put in again goes out.
        public let request: TransportRequest
        /// The head of the answer that asks for it.
        public let head: HTTPResponse
        /// How many were followed before it in this attempt.
        public let followed: Int
    }
}

extension RedirectPolicy {
    /// What becomes of a proposed redirect.
    public enum Decision: Sendable {
        /// Goes on with this request: the proposed one, or a changed one.
        case follow(TransportRequest)
        /// Does not go on: the 3xx is the call's response.
        case stop
        /// Fails the call with ``NetworkError/Code/redirectRefused``, with the reason, which must not hold secrets.
        case refuse(String)
    }
}
