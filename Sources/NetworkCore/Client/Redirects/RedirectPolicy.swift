public import HTTPTypes

/// The redirects that a ``NetworkClient`` follows.
///
/// 301 and 302 turn POST into GET, 303 turns everything but HEAD into GET, 307 and 308 keep method and body. A body
/// that is dropped takes the fields that describe it with it. When the origin (scheme, host, port) changes, the rest of
/// the call goes without ``SecretFields``, ``TransportOptions/secretFields``, `Host`, `Referer`,
/// ``TransportOptions/authentication``, the client certificate, ``TransportOptions/TLS/serverName``,
/// ``TransportOptions/Connection/unixSocket``, and the user and password of the URL.
///
/// Three kinds of response are not redirects and are returned as they are: 300, 304, 305 and 306; one whose `Location`
/// is missing, given with two different values, not a URL that ``RequestURL`` accepts, or has a user and password,
/// since a server should not choose the credentials of a request; and one for which a body would have to be sent again
/// and can't be (``TransportRequest/Body/isReplayable``). Over URLSession, which joins repeated fields, so is a
/// `Location` with a comma and a space.
///
/// ```swift
/// client.redirectPolicy = .deciding { proposal in
///     proposal.redirect.to.host.hasSuffix(".example.com") ? .follow(proposal.request) : .refuse("not one of ours")
/// }
/// ```
public struct RedirectPolicy: Sendable {
    /// The limit on redirects of one attempt, 0 or more. Default: 20. One more fails with
    /// ``NetworkError/Code/tooManyRedirects``; a negative limit fails each call with
    /// ``NetworkError/Code/invalidOption``.
    public var maximumRedirects = 20
    /// Whether https may lead to http. Default: `false`, which fails with ``NetworkError/Code/redirectRefused``.
    public var allowsDowngrade = false
    /// The statuses among 301, 302 and 303 that keep method and body, as 307 and 308 do. Default: none.
    public var keepsMethodOn: Set<Int> = []

    let isOn: Bool
    let decide: (@Sendable (Proposal) async throws -> Decision)?

    /// Follows redirects by the rules.
    public static let standard = RedirectPolicy(isOn: true, decide: nil)

    /// Follows no redirects: a 302 is a response.
    public static let none = RedirectPolicy(isOn: false, decide: nil)

    /// Follows the redirects that the rules and a closure allow. An error that the closure throws reaches the caller
    /// unchanged. At the call's deadline the closure is cancelled, and the call ends when the closure has returned.
    /// After ``TransportOptions/idleTimeout`` it is cancelled too, since the response, with its connection, waits for
    /// the decision; the call then fails with ``NetworkError/Code/redirectRefused``, which is not retried.
    public static func deciding(
        _ decide: @escaping @Sendable (Proposal) async throws -> Decision
    ) -> RedirectPolicy {
        RedirectPolicy(isOn: true, decide: decide)
    }

    /// A redirect that the rules allow, before it is followed.
    public struct Proposal: Sendable, SafelyPrinted {
        /// The redirect: its status, both URLs, and the method.
        public let redirect: Redirect
        /// The request that would follow, without the secrets of another origin. It has those of its own origin: remove
        /// them if you give it a URL of another one. Secrets that you put back are sent.
        public let request: TransportRequest
        /// The head of the response with the redirect.
        public let head: HTTPResponse
        /// The number of redirects followed before it in this attempt.
        public let followed: Int

        /// The redirect, and the number of redirects before it.
        public var description: String { "\(redirect), after \(followed) others" }
    }

    /// The outcome of a proposed redirect.
    @nonexhaustive
    public enum Decision: Sendable {
        /// Sends this request as it is: the proposed one, or a changed one. The rules are not applied again.
        case follow(TransportRequest)
        /// Stops here: the 3xx is the call's response.
        case stop
        /// Fails the call with ``NetworkError/Code/redirectRefused`` and this reason, which must not hold secrets.
        case refuse(String)
    }
}
