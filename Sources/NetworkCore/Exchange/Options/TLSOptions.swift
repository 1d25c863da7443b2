public import FoundationEssentials

extension TransportOptions {
    /// Whom to trust, who we are, and how TLS is spoken. Not for URLSession.
    public struct TLS: Sendable, Hashable {
        /// Who may vouch for the server (CURLOPT_CAINFO, CAPATH, CAINFO_BLOB). ``Authorities/system`` by default.
        public var authorities = Authorities.system
        /// Our own certificate, for servers that ask for one. None by default.
        public var clientCertificate: ClientCertificate?
        /// The public keys of which the server must have one (CURLOPT_PINNEDPUBLICKEY, 7.39), each as `sha256//` and
        /// the base64 of the SHA-256 of its SubjectPublicKeyInfo. It is asked for besides the certificate check, not
        /// instead of it. None by default, which lets any key pass.
        public var pinnedPublicKeys: [String] = []
        /// The oldest version to speak (CURLOPT_SSLVERSION). ``Version/tls1_2`` by default.
        public var minimumVersion = Version.tls1_2
        /// The newest version to speak (CURLOPT_SSLVERSION, 7.54). The library's newest by default.
        public var maximumVersion: Version?
        /// The cipher suites for TLS 1.2 and older, in the TLS library's notation (CURLOPT_SSL_CIPHER_LIST):
        /// `ECDHE-RSA-AES128-GCM-SHA256:…`. The library's own by default.
        public var ciphers: String?
        /// The cipher suites for TLS 1.3 (CURLOPT_TLS13_CIPHERS, 7.61): `TLS_AES_128_GCM_SHA256:…`. The library's own
        /// by default.
        public var cipherSuites: String?
        /// The name that the server is asked for (SNI) and that its certificate must be for, when it is not the URL's
        /// host.
        ///
        /// libcurl can't set it apart, so the transport asks for this name's URL, connects to the URL's host all the
        /// same (CURLOPT_CONNECT_TO, 7.49), and sends the URL's host in `Host`.
        public var serverName: String?

        /// The defaults: the system's authorities, TLS 1.2 and later.
        public init() {}

        /// Who may vouch for a server.
        public enum Authorities: Sendable, Hashable {
            /// What libcurl was built with: the system's bundle. From 7.87 it is read once and kept for a day; the
            /// directory of single files, which would be read again for each connection, is left out where there is a
            /// bundle.
            case system
            /// A file of PEM certificates (CURLOPT_CAINFO). Read once and kept from 7.87 on.
            case file(String)
            /// A directory of PEM certificates under their hashes, as `c_rehash` makes it (CURLOPT_CAPATH). OpenSSL
            /// reads it for each connection.
            case directory(String)
            /// PEM certificates (CURLOPT_CAINFO_BLOB, 7.77). They are parsed for each new connection: with them,
            /// libcurl does not keep a parsed set as it does for a file.
            case bytes(Data)
        }

        /// A certificate of our own with its key, both PEM.
        public struct ClientCertificate: Sendable, Hashable {
            /// The certificate and what is between it and its root (CURLOPT_SSLCERT, SSLCERT_BLOB).
            public var certificate: Source
            /// The private key (CURLOPT_SSLKEY, SSLKEY_BLOB); `nil` when it stands in the certificate's PEM.
            public var key: Source?
            /// The key's password (CURLOPT_KEYPASSWD).
            public var password: Secret?

            /// A certificate and its key.
            public init(_ certificate: Source, key: Source? = nil, password: Secret? = nil) {
                self.certificate = certificate
                self.key = key
                self.password = password
            }
        }

        /// Where a PEM stands.
        public enum Source: Sendable, Hashable {
            /// A file's path.
            case file(String)
            /// The PEM itself (libcurl 7.71).
            case bytes(Data)
        }

        /// A version of TLS.
        public enum Version: Int, Sendable, Hashable, Comparable, CaseIterable {
            /// TLS 1.0, which is broken. Many TLS libraries refuse it whatever is asked.
            case tls1_0
            /// TLS 1.1, which is broken. Many TLS libraries refuse it whatever is asked.
            case tls1_1
            /// TLS 1.2.
            case tls1_2
            /// TLS 1.3.
            case tls1_3

            /// Older comes first.
            public static func < (left: Version, right: Version) -> Bool { left.rawValue < right.rawValue }
        }
    }
}

extension TransportOptions.TLS: TransportOptionGroup {
    func check() throws {
        try authorities.check("tls.authorities")
        if let clientCertificate {
            try clientCertificate.certificate.check("tls.clientCertificate.certificate")
            try clientCertificate.key?.check("tls.clientCertificate.key")
            if let password = clientCertificate.password {
                try OptionCheck.text(password.value, "tls.clientCertificate.password", mayBeEmpty: true)
            }
        }
        for key in pinnedPublicKeys {
            let digest = Data(base64Encoded: String(key.dropFirst(8)))
            guard key.hasPrefix("sha256//"), digest?.count == 32 else {
                let form = "must be 'sha256//' and the base64 of 32 bytes"
                throw OptionCheck.invalid("tls.pinnedPublicKeys", form)
            }
        }
        if let maximumVersion, maximumVersion < minimumVersion {
            throw OptionCheck.invalid("tls.maximumVersion", "is below minimumVersion")
        }
        if let ciphers { try OptionCheck.token(ciphers, "tls.ciphers") }
        if let cipherSuites { try OptionCheck.token(cipherSuites, "tls.cipherSuites") }
        if let serverName { try OptionCheck.host(serverName, "tls.serverName") }
    }

    var required: [TransportCapabilities.Capability] {
        var required = [TransportCapabilities.Capability.tlsOptions]
        if case .bytes = authorities { required.append(.authoritiesInMemory) }
        if clientCertificate?.holdsBytes == true { required.append(.clientCertificateInMemory) }
        return required
    }
}

extension TransportOptions.TLS.Authorities {
    func check(_ name: String) throws {
        switch self {
        case .system: break
        case .file(let path), .directory(let path): try OptionCheck.text(path, name)
        case .bytes(let bytes): if bytes.isEmpty { throw OptionCheck.invalid(name, "is empty") }
        }
    }
}

extension TransportOptions.TLS.ClientCertificate {
    fileprivate var holdsBytes: Bool {
        [certificate, key].contains { if case .bytes = $0 { true } else { false } }
    }
}

extension TransportOptions.TLS.Source {
    fileprivate func check(_ name: String) throws {
        switch self {
        case .file(let path): try OptionCheck.text(path, name)
        case .bytes(let bytes): if bytes.isEmpty { throw OptionCheck.invalid(name, "is empty") }
        }
    }
}
