import NetworkCore

/// A signature for Amazon's services (CURLOPT_AWS_SIGV4). Other credentials are header fields; libcurl responds to no
/// challenge of a server.
struct AuthenticationOption: EasyOption {
    let authentication: TransportOptions.Authentication
    let url: RequestURL
    let support: LibcurlSupport

    func apply(to easy: EasyHandle) throws {
        guard case .awsSigV4(let signature) = authentication else { return }
        try easy.set(.httpAuth, OptionValue.noAuth)
        try easy.set(.user, signature.keyID)
        try easy.set(.password, signature.secretKey.value)
        let parts = [signature.provider, signature.region, signature.service].compactMap(\.self)
        if support.has(.normalizedSignedPaths) {
            // This libcurl refuses to sign a path that it may not normalize, and reads `%2e` as a dot; the path has no
            // plain dot segments left.
            guard !url.hasEncodedDotSegment else { throw NetworkError.unsignablePath }
            try easy.set(.pathAsIs, 0)
        }
        // This option also selects the authentication scheme.
        try easy.set(.awsSigV4, parts.joined(separator: ":"))
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
