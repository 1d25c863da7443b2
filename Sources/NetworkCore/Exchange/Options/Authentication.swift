import FoundationEssentials

extension TransportOptions {
    /// Who asks, towards the server.
    ///
    /// Basic and Bearer are a header field that goes along at once, over every transport. The others are spoken by
    /// libcurl: the server asks, the request is sent again, and what the caller sees is the last answer. With those, a
    /// body must be one that can be sent twice.
    public enum Authentication: Sendable, Hashable {
        /// User and password in clear (RFC 7617): for TLS, or networks of your own.
        case basic(user: String, password: Secret)
        /// A token (RFC 6750), in clear as well.
        case bearer(token: Secret)
        /// A digest of user and password (RFC 7616; CURLAUTH_DIGEST), after the server asked.
        ///
        /// Each request is sent twice, first without its body to be asked: nothing is kept from one request to the
        /// next. A server that does not ask has executed a request with an empty body, and then gets the whole one.
        case digest(user: String, password: Secret)
        /// NTLM (CURLAUTH_NTLM), where libcurl was built with it. `DOMAIN\user` names a domain. HTTP/1.1 only.
        case ntlm(user: String, password: Secret)
        /// Kerberos or what SPNEGO finds (CURLAUTH_NEGOTIATE), with the ticket of the process's user, where libcurl was
        /// built with it. Such requests have a thread and connections of their own: the ticket service may let them
        /// wait, and what a connection was authenticated for serves no other request.
        case negotiate
        /// The strongest that the server offers of Digest, NTLM and, over https, Basic. Never Basic in clear: over
        /// http: CURLAUTH_ANYSAFE, over https: CURLAUTH_ANY.
        case anySafe(user: String, password: Secret)
        /// A signature as Amazon's services take it (CURLOPT_AWS_SIGV4, 7.75). From libcurl 8.14 on a path with a
        /// segment of encoded dots (`%2e%2e`) is refused with it.
        case awsSigV4(AWSSignature)

        /// What AWS Signature Version 4 is made of.
        ///
        /// libcurl below 8.3 signs neither repeated nor blank-padded header fields and no unsorted queries well; the
        /// services then answer 403. A session token goes into the header field `X-Amz-Security-Token`.
        public struct AWSSignature: Sendable, Hashable {
            /// The providers, `aws:amz` unless a service of another maker says otherwise.
            public var provider = "aws:amz"
            /// `eu-central-1`; `nil` takes it from the host's name.
            public var region: String?
            /// `s3`; `nil` takes it from the host's name.
            public var service: String?
            /// The access key's name.
            public var keyID: String
            /// The access key.
            public var secretKey: Secret

            /// A key and what it is for.
            public init(
                keyID: String, secretKey: Secret, region: String? = nil, service: String? = nil
            ) {
                self.keyID = keyID
                self.secretKey = secretKey
                self.region = region
                self.service = service
            }
        }

        /// The value of `Authorization` where one is enough.
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
            case .basic(let user, let password), .digest(let user, let password), .ntlm(let user, let password),
                .anySafe(let user, let password):
                try OptionCheck.text(user, "authentication.user", mayBeEmpty: true)
                try OptionCheck.text(password.value, "authentication.password", mayBeEmpty: true)
                if user.contains(byte: UInt8(ascii: ":")) {
                    throw OptionCheck.invalid("authentication.user", "has ':', which ends it (RFC 7617 §2)")
                }
            case .bearer(let token): try OptionCheck.token(token.value, "authentication.token")
            case .negotiate: break
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
            case .ntlm: [.ntlmAuthentication]
            case .negotiate: [.negotiateAuthentication]
            case .awsSigV4: [.awsSigV4]
            }
        }
    }
}
