import NetworkCore

/// The TLS options (CURLOPT_CAINFO, CAPATH, CAINFO_BLOB, SSLCERT, SSLKEY, KEYPASSWD, PINNEDPUBLICKEY, SSLVERSION,
/// SSL_OPTIONS, SSL_CIPHER_LIST, TLS13_CIPHERS, SSL_EC_CURVES, SSL_SIGNATURE_ALGORITHMS). ``RouteOption`` sets the
/// server's name.
struct TLSOption: EasyOption {
    /// The request's TLS options; `nil` for the defaults.
    let options: TransportOptions.TLS?
    /// Whether names are looked up over HTTPS, which trusts the request's authorities.
    let looksUpOverHTTPS: Bool
    let support: LibcurlSupport

    func apply(to easy: EasyHandle) throws {
        try easy.set(
            .tlsVersion,
            OptionValue.tls(
                from: options?.minimumVersion ?? Self.minimumVersion, upTo: options?.maximumVersion))
        if let options { try setIdentities(of: options, on: easy) }
    }

    private static let minimumVersion = TransportOptions.TLS().minimumVersion

    private func setIdentities(of options: TransportOptions.TLS, on easy: EasyHandle) throws {
        let places = try TrustedPlaces(
            options.authorities, looksUpOverHTTPS: looksUpOverHTTPS, support: support)
        if let places {
            try easy.set(.caFile, places.file)
            try easy.set(.caDirectory, places.directory)
            if let bytes = places.bytes { try easy.set(.authorities, bytes) }
        }
        if let certificate = options.clientCertificate { try set(certificate, on: easy) }
        if !options.pinnedPublicKeys.isEmpty {
            try easy.set(.pinnedPublicKey, options.pinnedPublicKeys.joined(separator: ";"))
        }
        if let ciphers = options.ciphers {
            guard support.takesCiphers else { throw NetworkError.ciphersAreIgnored }
            try easy.set(.ciphers, ciphers)
        }
        if let suites = options.cipherSuites { try easy.set(.cipherSuites, suites) }
        if let groups = options.groups { try easy.set(.groups, groups) }
        if let algorithms = options.signatureAlgorithms { try easy.set(.signatureAlgorithms, algorithms) }
    }

    private func set(_ certificate: TransportOptions.TLS.ClientCertificate, on easy: EasyHandle) throws {
        switch certificate.certificate {
        case .file(let path): try easy.set(.certificate, path)
        case .bytes(let bytes): try easy.set(.certificate, bytes)
        }
        // Without a separate key, libcurl looks for one in the certificate's file, but not in its bytes.
        switch certificate.key ?? certificate.certificate {
        case .file(let path): try easy.set(.key, path)
        case .bytes(let bytes): try easy.set(.key, bytes)
        }
        // Without a password, OpenSSL would ask the terminal for one, on the loop's thread.
        try easy.set(.keyPassword, certificate.password?.value ?? "")
    }
}

extension NetworkError {
    fileprivate static var ciphersAreIgnored: NetworkError {
        NetworkError(
            .unsupported, "tls.ciphers needs libcurl 8.13 with GnuTLS: older ones ignore it, or refuse it",
            phase: .preparing)
    }
}

/// Disables all certificate checks (CURLOPT_SSL_VERIFYPEER, SSL_VERIFYHOST). Only the dispatcher's configuration sets
/// it.
struct AnyServerOption: EasyOption {
    func apply(to easy: EasyHandle) throws {
        try easy.set(.verifyPeer, 0)
        try easy.set(.verifyHost, 0)
    }
}
