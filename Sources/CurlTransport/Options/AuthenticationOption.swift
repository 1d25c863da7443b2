import NetworkCore

/// Credentials for the server (CURLOPT_HTTPAUTH, USERNAME, PASSWORD, AWS_SIGV4). Basic and Bearer are sent as a header
/// field instead.
struct AuthenticationOption: EasyOption {
    let authentication: TransportOptions.Authentication
    let url: RequestURL
    let support: LibcurlSupport
    private var isSecure: Bool { url.scheme == "https" }

    init(authentication: TransportOptions.Authentication, url: RequestURL, support: LibcurlSupport) {
        (self.authentication, self.url, self.support) = (authentication, url, support)
    }

    func apply(to easy: EasyHandle) throws {
        switch authentication {
        case .basic, .bearer: break
        case .digest(let user, let password): try set(OptionValue.digest, user, password.value, on: easy)
        case .ntlm(let user, let password): try set(OptionValue.ntlm, user, password.value, on: easy)
        // An empty user stands for the user whose ticket the process has.
        case .negotiate: try set(OptionValue.negotiate, "", "", on: easy)
        case .anySafe(let user, let password):
            try set(isSecure ? OptionValue.anyAuth : OptionValue.anySafeAuth, user, password.value, on: easy)
        case .awsSigV4(let signature):
            try set(OptionValue.noAuth, signature.keyID, signature.secretKey.value, on: easy)
            let parts = [signature.provider, signature.region, signature.service].compactMap(\.self)
            if support.has(.normalizedSignedPaths) {
                // This libcurl refuses to sign a path that it may not normalize, and reads `%2e` as a dot; the path has
                // no plain dot segments left.
                guard !url.hasEncodedDotSegment else { throw NetworkError.unsignablePath }
                try easy.set(.pathAsIs, 0)
            }
            // This option also selects the authentication scheme.
            try easy.set(.awsSigV4, parts.joined(separator: ":"))
        }
    }

    private func set(_ schemes: Int, _ user: String, _ password: String, on easy: EasyHandle) throws {
        try easy.set(.httpAuth, schemes)
        try easy.set(.user, user)
        try easy.set(.password, password)
    }
}

extension RequestURL {
    /// Whether decoding `%2e` turns a segment of the path into `.` or `..`.
    fileprivate var hasEncodedDotSegment: Bool {
        path.utf8.contains(UInt8(ascii: "%"))
            && path.split(separator: "/").contains {
                let segment = $0.lowercased().replacing("%2e", with: ".")
                return segment == "." || segment == ".."
            }
    }
}

extension NetworkError {
    fileprivate static var unsignablePath: NetworkError {
        NetworkError(
            .unsupported,
            "this libcurl changes a path with a segment of encoded dots (%2e) before it signs it, so no such path is "
                + "sent with AWS SigV4 (libcurl 8.14 and later)", phase: .preparing)
    }
}

extension TransportOptions {
    /// Whether libcurl itself responds to a 401 or 407, so that the head of such a response may not be the last one.
    var answersChallenges: Bool {
        guard hasRareOptions else { return false }
        switch authentication {
        case .digest, .ntlm, .negotiate, .anySafe: return true
        case nil, .basic, .bearer, .awsSigV4: break
        }
        guard case .explicit(let proxy) = proxy.choice else { return false }
        return proxy.scheme != .basic
    }
}

extension TransportOptions {
    /// The rounds of a request in which libcurl may send it without the body to get a challenge: the first for a scheme
    /// that is known, the second for one that the server chose, either for Negotiate.
    var askingRounds: ClosedRange<Int> {
        var range: ClosedRange<Int>?
        func add(_ other: ClosedRange<Int>) {
            range = range.map { min($0.lowerBound, other.lowerBound)...max($0.upperBound, other.upperBound) } ?? other
        }
        switch authentication {
        case .digest, .ntlm: add(1...1)
        case .negotiate: add(1...2)
        case .anySafe: add(2...2)
        case nil, .basic, .bearer, .awsSigV4: break
        }
        if case .explicit(let proxy) = proxy.choice, proxy.scheme != .basic {
            add(proxy.scheme == .digest ? 1...1 : 2...2)
        }
        return range ?? 1...1
    }
}

extension TransportRequest {
    /// Whether libcurl may first send the request without its body to get a challenge.
    var asksForChallenge: Bool { options.answersChallenges && (body != nil || method != .get && method != .head) }
}

/// Closes a connection on which libcurl may continue to hold bodies back, where no callback shows it before the next
/// request: below 7.80, and on Unix sockets, which have no port to identify them. NTLM keeps its connection until the
/// handshake is complete.
struct HeldBackBodyOption: EasyOption {
    let request: TransportRequest
    let support: LibcurlSupport

    func apply(to easy: EasyHandle) throws {
        guard support.suffers(from: .heldBackBodiesStay), request.asksForChallenge else { return }
        let isSeen = support.has(.requestCheck) && request.options.connection.unixSocket == nil
        if !isSeen { try easy.set(.forbidReuse, 1) }
    }
}
