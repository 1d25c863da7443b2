public import FoundationEssentials

extension TransportOptions {
    /// The trusted authorities, the client certificate and the parameters of TLS. Not supported by the URLSession
    /// transport. Without effect for an `http` URL, but for ``serverName``, which is
    /// ``NetworkError/Code/invalidOption`` there.
    public struct TLS: Sendable, Hashable {
        /// The certificate authorities to trust. Default: ``Authorities/system``.
        /// [CURLOPT_CAINFO](https://curl.se/libcurl/c/CURLOPT_CAINFO.html),
        /// [CURLOPT_CAPATH](https://curl.se/libcurl/c/CURLOPT_CAPATH.html),
        /// [CURLOPT_CAINFO_BLOB](https://curl.se/libcurl/c/CURLOPT_CAINFO_BLOB.html)
        public var authorities = Authorities.system
        /// The client's certificate, for servers that request one. Default: `nil`.
        /// [CURLOPT_SSLCERT](https://curl.se/libcurl/c/CURLOPT_SSLCERT.html)
        public var clientCertificate: ClientCertificate?
        /// The public keys of which the server must have one, each as `sha256//` and the base64 of the SHA-256 of its
        /// SubjectPublicKeyInfo. This check is in addition to the certificate check and does not replace it. Default:
        /// none, which accepts any key.
        /// [CURLOPT_PINNEDPUBLICKEY](https://curl.se/libcurl/c/CURLOPT_PINNEDPUBLICKEY.html)
        public var pinnedPublicKeys: [String] = []
        /// The oldest version of TLS to accept. Default: ``Version/tls1_2``.
        /// [CURLOPT_SSLVERSION](https://curl.se/libcurl/c/CURLOPT_SSLVERSION.html)
        public var minimumVersion = Version.tls1_2
        /// The newest version of TLS to accept. Default: `nil`, for the newest of the TLS library.
        /// [CURLOPT_SSLVERSION](https://curl.se/libcurl/c/CURLOPT_SSLVERSION.html)
        public var maximumVersion: Version?
        /// The cipher suites for TLS 1.2 and older, in the notation of the TLS library:
        /// `ECDHE-RSA-AES128-GCM-SHA256:…`. Default: `nil`, for the library's own.
        /// [CURLOPT_SSL_CIPHER_LIST](https://curl.se/libcurl/c/CURLOPT_SSL_CIPHER_LIST.html)
        public var ciphers: String?
        /// The cipher suites for TLS 1.3: `TLS_AES_128_GCM_SHA256:…`. Default: `nil`, for the library's own.
        /// [CURLOPT_TLS13_CIPHERS](https://curl.se/libcurl/c/CURLOPT_TLS13_CIPHERS.html)
        public var cipherSuites: String?
        /// The groups of the key exchange in order of preference, separated by colons, such as
        /// `X25519MLKEM768:X25519:P-256`. A group that the TLS library does not know fails the exchange. Requires a
        /// libcurl with OpenSSL or a library like it. Default: `nil`, for the library's own.
        /// [CURLOPT_SSL_EC_CURVES](https://curl.se/libcurl/c/CURLOPT_SSL_EC_CURVES.html)
        public var groups: String?
        /// The signature algorithms in order of preference, separated by colons, such as `ed25519:RSA-PSS+SHA256`.
        /// Requires libcurl 8.14 with OpenSSL or a library like it. Default: `nil`, for the library's own.
        /// [CURLOPT_SSL_SIGNATURE_ALGORITHMS](https://curl.se/libcurl/c/CURLOPT_SSL_SIGNATURE_ALGORITHMS.html)
        public var signatureAlgorithms: String?
        /// The name to send to the server (SNI) and to require in its certificate, if it is not the URL's host.
        /// Default: `nil`, for the URL's host. Only for `https` URLs.
        ///
        /// libcurl has no separate option for this name. The transport therefore requests a URL with this name,
        /// connects to the URL's host nevertheless, and sends the URL's host in `Host`.
        /// [CURLOPT_CONNECT_TO](https://curl.se/libcurl/c/CURLOPT_CONNECT_TO.html)
        public var serverName: String?

        /// Creates the default options: the system's authorities, TLS 1.2 and later.
        public init() {}

        /// The certificate authorities to trust, instead of all others.
        @nonexhaustive
        public enum Authorities: Sendable, Hashable, SafelyPrinted {
            /// The system's certificates, where libcurl was built to look for them. The bundle is read once and cached
            /// for a day. A directory of single files, which would be read again for each
            /// connection, is used only if there is no bundle.
            case system
            /// The path of a file of PEM certificates. It is read once and cached for a day; not from 8.21 on where
            /// libcurl was built with a directory of authorities.
            /// [CURLOPT_CAINFO](https://curl.se/libcurl/c/CURLOPT_CAINFO.html)
            case file(String)
            /// The path of a directory of PEM certificates named by their hashes, as `c_rehash` creates it. OpenSSL
            /// reads it for each connection. ``NetworkError/Code/unsupported`` with libcurl 8.21 and 8.22, and next to
            /// ``Names/dnsOverHTTPS`` below 8.17: these trust their own file besides.
            /// [CURLOPT_CAPATH](https://curl.se/libcurl/c/CURLOPT_CAPATH.html)
            case directory(String)
            /// PEM certificates in memory. They are parsed for each new connection: unlike for a file, libcurl does not
            /// cache the parsed certificates.
            /// [CURLOPT_CAINFO_BLOB](https://curl.se/libcurl/c/CURLOPT_CAINFO_BLOB.html)
            case bytes(Data)

            /// The path, or the number of bytes.
            public var description: String {
                switch self {
                case .system: "the system's"
                case .file(let path): "file \(Redaction.visible(path))"
                case .directory(let path): "directory \(Redaction.visible(path))"
                case .bytes(let bytes): "\(bytes.count) bytes"
                }
            }

            func check(_ name: String) throws {
                switch self {
                case .system: break
                case .file(let path), .directory(let path): try OptionCheck.text(path, name)
                case .bytes(let bytes): if bytes.isEmpty { throw OptionCheck.invalid(name, "is empty") }
                }
            }

            func checkFile(_ name: String) throws {
                if case .file(let path) = self { try OptionCheck.file(path, name) }
            }
        }

        /// A client certificate with its key, both in PEM.
        public struct ClientCertificate: Sendable, Hashable {
            /// The certificate and the intermediate certificates up to its root.
            /// [CURLOPT_SSLCERT](https://curl.se/libcurl/c/CURLOPT_SSLCERT.html),
            /// [CURLOPT_SSLCERT_BLOB](https://curl.se/libcurl/c/CURLOPT_SSLCERT_BLOB.html)
            public var certificate: Source
            /// The private key; `nil` if it is in the same PEM as the certificate.
            /// [CURLOPT_SSLKEY](https://curl.se/libcurl/c/CURLOPT_SSLKEY.html),
            /// [CURLOPT_SSLKEY_BLOB](https://curl.se/libcurl/c/CURLOPT_SSLKEY_BLOB.html)
            public var key: Source?
            /// The password of the private key. Default: `nil`.
            /// [CURLOPT_KEYPASSWD](https://curl.se/libcurl/c/CURLOPT_KEYPASSWD.html)
            public var password: Secret?

            /// Creates a client certificate with its key.
            public init(_ certificate: Source, key: Source? = nil, password: Secret? = nil) {
                self.certificate = certificate
                self.key = key
                self.password = password
            }

            fileprivate var holdsBytes: Bool {
                [certificate, key].contains { if case .bytes = $0 { true } else { false } }
            }
        }

        /// The source of a PEM text.
        @nonexhaustive
        public enum Source: Sendable, Hashable, SafelyPrinted {
            /// The path of a file.
            case file(String)
            /// The PEM text itself.
            case bytes(Data)

            /// The path, or the number of bytes.
            public var description: String {
                switch self {
                case .file(let path): "file \(Redaction.visible(path))"
                case .bytes(let bytes): "\(bytes.count) bytes"
                }
            }

            fileprivate func check(_ name: String) throws {
                switch self {
                case .file(let path): try OptionCheck.text(path, name)
                case .bytes(let bytes): if bytes.isEmpty { throw OptionCheck.invalid(name, "is empty") }
                }
            }

            fileprivate func checkFile(_ name: String) throws {
                if case .file(let path) = self { try OptionCheck.file(path, name) }
            }
        }

        /// A version of TLS.
        @nonexhaustive
        public enum Version: Int, Sendable, Hashable, Comparable, CaseIterable {
            /// TLS 1.0, which is insecure. Many TLS libraries refuse it even if it is requested.
            case tls1_0
            /// TLS 1.1, which is insecure. Many TLS libraries refuse it even if it is requested.
            case tls1_1
            /// TLS 1.2.
            case tls1_2
            /// TLS 1.3.
            case tls1_3

            /// Returns whether the left version is older than the right one.
            public static func < (left: Version, right: Version) -> Bool { left.rawValue < right.rawValue }
        }

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
            if let groups { try OptionCheck.token(groups, "tls.groups") }
            if let signatureAlgorithms { try OptionCheck.token(signatureAlgorithms, "tls.signatureAlgorithms") }
            if let serverName { try OptionCheck.host(serverName, "tls.serverName") }
        }

        var required: [TransportCapabilities.Capability] {
            var required = [TransportCapabilities.Capability.tlsOptions]
            if case .bytes = authorities { required.append(.authoritiesInMemory) }
            if clientCertificate?.holdsBytes == true { required.append(.clientCertificateInMemory) }
            if groups != nil { required.append(.tlsGroups) }
            if signatureAlgorithms != nil { required.append(.tlsSignatureAlgorithms) }
            return required
        }

        func checkFiles() throws {
            try authorities.checkFile("tls.authorities")
            try clientCertificate?.certificate.checkFile("tls.clientCertificate.certificate")
            try clientCertificate?.key?.checkFile("tls.clientCertificate.key")
        }
    }
}
