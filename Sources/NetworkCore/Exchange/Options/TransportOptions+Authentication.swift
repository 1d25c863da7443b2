import FoundationEssentials

extension TransportOptions {
    /// The credentials for the server.
    ///
    /// ``basic(user:password:)`` and ``bearer(token:)`` are header fields that go out with the first request.
    /// ``digest(user:password:)`` and ``anySafe(user:password:)`` wait for the server's challenge: the request goes out
    /// without credentials, and again in response to a 401. Each round is an exchange of its own, and the caller
    /// receives the last response. The body goes out in each round, so it must be one that can be sent twice; a
    /// one-time stream goes with `Expect: 100-continue`, and a challenge that comes when the stream has begun is the
    /// response.
    @nonexhaustive
    public enum Authentication: Sendable, Hashable, SafelyPrinted {
        /// User and password in the clear ([RFC 7617](https://www.rfc-editor.org/rfc/rfc7617)). Use it only over TLS or
        /// in networks of your own.
        case basic(user: String, password: Secret)
        /// A token ([RFC 6750](https://www.rfc-editor.org/rfc/rfc6750)), in the clear like ``basic(user:password:)``.
        case bearer(token: Secret)
        /// A digest of user and password ([RFC 7616](https://www.rfc-editor.org/rfc/rfc7616)), sent in response to the
        /// server's challenge: by SHA-256 or MD5, of the quality of protection `auth`. No challenge is kept from one
        /// request to the next. A response whose challenge has neither, and that to wrong credentials, is the 401.
        case digest(user: String, password: Secret)
        /// The strongest scheme that the server offers: Digest or, over `https` only, Basic. Never Basic in the clear.
        case anySafe(user: String, password: Secret)
        /// A signature for Amazon's services and compatible ones, in `Authorization`: of the method, the URL, the host,
        /// the content's type and hash, and the vendor's fields (`X-Amz-…`).
        ///
        /// Each exchange is signed anew, with the time in `X-Amz-Date`, which the caller may set. A body that can be
        /// sent again is read once more for its hash; a stream to be compressed must then come in the same chunks. A
        /// one-time stream has none: for S3 the signature says so (`UNSIGNED-PAYLOAD`), and for another service the
        /// request fails with ``NetworkError/Code/unsupported`` unless `X-Amz-Content-Sha256` is set.
        case awsSigV4(AWSSignature)

        /// The parameters of
        /// [AWS Signature Version 4](https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv.html). Send a
        /// session token in the header field `X-Amz-Security-Token`.
        public struct AWSSignature: Sendable, Hashable, SafelyPrinted {
            /// The two vendors, separated by a colon: the first names the algorithm and the key, the second the header
            /// fields (`X-Amz-…`). Default: `aws:amz`. Services of other vendors may require another value.
            public var provider = "aws:amz"
            /// The region, such as `eu-central-1`. Default: `nil`, which takes it from a host name of exactly the form
            /// `SERVICE.REGION.amazonaws.com` (or `….com.cn`); of another vendor's, from `SERVICE.REGION.….…`.
            public var region: String?
            /// The service, such as `s3`. Default: `nil`, which takes it from a host name of that form, or from
            /// `SERVICE.amazonaws.com`, where the region has to be given. For any other host, such as that of a bucket,
            /// the request fails with ``NetworkError/Code/invalidOption``.
            public var service: String?
            /// The access key ID.
            public var keyID: String
            /// The secret access key.
            public var secretKey: Secret

            /// Creates a signature from a key, and from a region and a service if the host name does not give them.
            public init(
                keyID: String, secretKey: Secret, region: String? = nil, service: String? = nil
            ) {
                self.keyID = keyID
                self.secretKey = secretKey
                self.region = region
                self.service = service
            }

            /// The provider, region and service.
            public var description: String {
                [provider, region, service].compactMap { $0.map { Redaction.visible($0) } }.joined(separator: ":")
            }
        }

        /// The value of `Authorization` for the schemes that need no challenge; `nil` for the others.
        var fieldValue: String? {
            switch self {
            case .basic(let user, let password):
                "Basic " + Data("\(user):\(password.value)".utf8).base64EncodedString()
            case .bearer(let token): "Bearer " + token.value
            default: nil
            }
        }

        func check() throws {
            switch self {
            case .basic(let user, let password), .digest(let user, let password),
                .anySafe(let user, let password):
                try OptionCheck.text(user, "authentication.user", mayBeEmpty: true)
                try OptionCheck.text(password.value, "authentication.password", mayBeEmpty: true)
                if user.contains(byte: UInt8(ascii: ":")) {
                    throw OptionCheck.invalid("authentication.user", "has ':', which ends it (RFC 7617 §2)")
                }
            case .bearer(let token): try OptionCheck.token(token.value, "authentication.token")
            case .awsSigV4(let signature):
                try OptionCheck.token(signature.provider, "authentication.provider")
                try OptionCheck.token(signature.keyID, "authentication.keyID", without: ":")
                try OptionCheck.token(signature.secretKey.value, "authentication.secretKey")
                if let region = signature.region {
                    try OptionCheck.token(region, "authentication.region", without: ":")
                }
                if let service = signature.service {
                    try OptionCheck.token(service, "authentication.service", without: ":")
                }
                if signature.service != nil, signature.region == nil {
                    throw OptionCheck.invalid("authentication.region", "is needed with a service")
                }
            }
        }

        var required: [TransportCapabilities.Capability] {
            switch self {
            case .basic, .bearer: []
            case .digest, .anySafe: [.digestAuthentication]
            case .awsSigV4: [.awsSigV4]
            }
        }

        /// The name of the scheme.
        public var description: String {
            switch self {
            case .basic: "basic"
            case .bearer: "bearer"
            case .digest: "digest"
            case .anySafe: "anySafe"
            case .awsSigV4(let signature): "awsSigV4 (\(signature))"
            }
        }
    }

    /// A text that is never printed, such as a password, a token or a key.
    ///
    /// Descriptions, dumps and interpolations of a secret, and of every value that contains one, show `<secret>`. A
    /// string literal creates a secret.
    public struct Secret: Sendable, Hashable, SafelyPrinted, ExpressibleByStringLiteral {
        /// The text itself.
        public let value: String

        /// Creates a secret from a text.
        public init(_ value: String) { self.value = value }

        /// Creates a secret from a literal.
        public init(stringLiteral value: String) { self.value = value }

        /// The text `<secret>`.
        public var description: String { "<secret>" }
    }
}
