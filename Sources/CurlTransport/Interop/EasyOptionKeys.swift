import CCurl
import NetworkCore

/// An option that takes a `long`.
struct LongOption {
    let number: CURLoption
    let name: StaticString

    static let noSignal = LongOption(number: CURLOPT_NOSIGNAL, name: "CURLOPT_NOSIGNAL")
    static let quickExit = LongOption(number: CURLOPT_QUICK_EXIT, name: "CURLOPT_QUICK_EXIT")
    static let verbose = LongOption(number: CURLOPT_VERBOSE, name: "CURLOPT_VERBOSE")
    static let noProgress = LongOption(number: CURLOPT_NOPROGRESS, name: "CURLOPT_NOPROGRESS")
    static let followLocation = LongOption(number: CURLOPT_FOLLOWLOCATION, name: "CURLOPT_FOLLOWLOCATION")
    static let verifyPeer = LongOption(number: CURLOPT_SSL_VERIFYPEER, name: "CURLOPT_SSL_VERIFYPEER")
    static let verifyHost = LongOption(number: CURLOPT_SSL_VERIFYHOST, name: "CURLOPT_SSL_VERIFYHOST")
    static let tlsVersion = LongOption(number: CURLOPT_SSLVERSION, name: "CURLOPT_SSLVERSION")
    static let unrestrictedAuth = LongOption(number: CURLOPT_UNRESTRICTED_AUTH, name: "CURLOPT_UNRESTRICTED_AUTH")
    static let http09Allowed = LongOption(number: CURLOPT_HTTP09_ALLOWED, name: "CURLOPT_HTTP09_ALLOWED")
    static let httpAuth = LongOption(number: CURLOPT_HTTPAUTH, name: "CURLOPT_HTTPAUTH")
    static let proxyAuth = LongOption(number: CURLOPT_PROXYAUTH, name: "CURLOPT_PROXYAUTH")
    static let socks5Auth = LongOption(number: CURLOPT_SOCKS5_AUTH, name: "CURLOPT_SOCKS5_AUTH")
    static let netrc = LongOption(number: CURLOPT_NETRC, name: "CURLOPT_NETRC")
    static let headerOptions = LongOption(number: CURLOPT_HEADEROPT, name: "CURLOPT_HEADEROPT")
    static let suppressConnectHeaders = LongOption(
        number: CURLOPT_SUPPRESS_CONNECT_HEADERS, name: "CURLOPT_SUPPRESS_CONNECT_HEADERS")
    static let protocols = LongOption(number: ccurl_opt_protocols, name: "CURLOPT_PROTOCOLS")
    static let redirectProtocols = LongOption(number: ccurl_opt_redir_protocols, name: "CURLOPT_REDIR_PROTOCOLS")
    static let maxConnectionIdle = LongOption(number: CURLOPT_MAXAGE_CONN, name: "CURLOPT_MAXAGE_CONN")
    static let maxConnectionLife = LongOption(number: CURLOPT_MAXLIFETIME_CONN, name: "CURLOPT_MAXLIFETIME_CONN")
    static let connectTimeout = LongOption(number: CURLOPT_CONNECTTIMEOUT_MS, name: "CURLOPT_CONNECTTIMEOUT_MS")
    static let expectTimeout = LongOption(
        number: CURLOPT_EXPECT_100_TIMEOUT_MS, name: "CURLOPT_EXPECT_100_TIMEOUT_MS")
    static let httpVersion = LongOption(number: CURLOPT_HTTP_VERSION, name: "CURLOPT_HTTP_VERSION")
    static let pipeWait = LongOption(number: CURLOPT_PIPEWAIT, name: "CURLOPT_PIPEWAIT")
    static let pathAsIs = LongOption(number: CURLOPT_PATH_AS_IS, name: "CURLOPT_PATH_AS_IS")
    static let httpGet = LongOption(number: CURLOPT_HTTPGET, name: "CURLOPT_HTTPGET")
    static let noBody = LongOption(number: CURLOPT_NOBODY, name: "CURLOPT_NOBODY")
    static let post = LongOption(number: CURLOPT_POST, name: "CURLOPT_POST")
    static let freshConnect = LongOption(number: CURLOPT_FRESH_CONNECT, name: "CURLOPT_FRESH_CONNECT")
    static let forbidReuse = LongOption(number: CURLOPT_FORBID_REUSE, name: "CURLOPT_FORBID_REUSE")
    static let ipResolve = LongOption(number: CURLOPT_IPRESOLVE, name: "CURLOPT_IPRESOLVE")
    static let localPort = LongOption(number: CURLOPT_LOCALPORT, name: "CURLOPT_LOCALPORT")
    static let localPortRange = LongOption(number: CURLOPT_LOCALPORTRANGE, name: "CURLOPT_LOCALPORTRANGE")
    static let tcpKeepAlive = LongOption(number: CURLOPT_TCP_KEEPALIVE, name: "CURLOPT_TCP_KEEPALIVE")
    static let tcpKeepIdle = LongOption(number: CURLOPT_TCP_KEEPIDLE, name: "CURLOPT_TCP_KEEPIDLE")
    static let tcpKeepInterval = LongOption(number: CURLOPT_TCP_KEEPINTVL, name: "CURLOPT_TCP_KEEPINTVL")
    // By number, since the headers of the oldest supported libcurl lack the first one.
    static let tcpKeepCount = LongOption(number: CURLoption(rawValue: 326), name: "CURLOPT_TCP_KEEPCNT")
    static let happyEyeballs = LongOption(
        number: CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS, name: "CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS")
    static let shuffleAddresses = LongOption(
        number: CURLOPT_DNS_SHUFFLE_ADDRESSES, name: "CURLOPT_DNS_SHUFFLE_ADDRESSES")
    static let lowSpeedLimit = LongOption(number: CURLOPT_LOW_SPEED_LIMIT, name: "CURLOPT_LOW_SPEED_LIMIT")
    static let lowSpeedTime = LongOption(number: CURLOPT_LOW_SPEED_TIME, name: "CURLOPT_LOW_SPEED_TIME")
    static let proxyTunnel = LongOption(number: CURLOPT_HTTPPROXYTUNNEL, name: "CURLOPT_HTTPPROXYTUNNEL")
    static let proxyTLSVersion = LongOption(number: CURLOPT_PROXY_SSLVERSION, name: "CURLOPT_PROXY_SSLVERSION")
    static let timeCondition = LongOption(number: CURLOPT_TIMECONDITION, name: "CURLOPT_TIMECONDITION")
}

/// An option that takes a `curl_off_t`.
struct OffsetOption {
    let number: CURLoption
    let name: StaticString

    static let postFieldSize = OffsetOption(number: CURLOPT_POSTFIELDSIZE_LARGE, name: "CURLOPT_POSTFIELDSIZE_LARGE")
    static let timeValue = OffsetOption(number: CURLOPT_TIMEVALUE_LARGE, name: "CURLOPT_TIMEVALUE_LARGE")
    static let maxReceiveSpeed = OffsetOption(
        number: CURLOPT_MAX_RECV_SPEED_LARGE, name: "CURLOPT_MAX_RECV_SPEED_LARGE")
    static let maxSendSpeed = OffsetOption(number: CURLOPT_MAX_SEND_SPEED_LARGE, name: "CURLOPT_MAX_SEND_SPEED_LARGE")
}

/// An option that takes a text, which libcurl copies.
struct StringOption {
    let number: CURLoption
    let name: StaticString

    static let url = StringOption(number: CURLOPT_URL, name: "CURLOPT_URL")
    static let customRequest = StringOption(number: CURLOPT_CUSTOMREQUEST, name: "CURLOPT_CUSTOMREQUEST")
    static let caFile = StringOption(number: CURLOPT_CAINFO, name: "CURLOPT_CAINFO")
    static let proxyCAFile = StringOption(number: CURLOPT_PROXY_CAINFO, name: "CURLOPT_PROXY_CAINFO")
    static let proxyCADirectory = StringOption(number: CURLOPT_PROXY_CAPATH, name: "CURLOPT_PROXY_CAPATH")
    static let certificate = StringOption(number: CURLOPT_SSLCERT, name: "CURLOPT_SSLCERT")
    static let key = StringOption(number: CURLOPT_SSLKEY, name: "CURLOPT_SSLKEY")
    static let keyPassword = StringOption(number: CURLOPT_KEYPASSWD, name: "CURLOPT_KEYPASSWD")
    static let pinnedPublicKey = StringOption(number: CURLOPT_PINNEDPUBLICKEY, name: "CURLOPT_PINNEDPUBLICKEY")
    static let ciphers = StringOption(number: CURLOPT_SSL_CIPHER_LIST, name: "CURLOPT_SSL_CIPHER_LIST")
    static let cipherSuites = StringOption(number: CURLOPT_TLS13_CIPHERS, name: "CURLOPT_TLS13_CIPHERS")
    static let groups = StringOption(number: CURLOPT_SSL_EC_CURVES, name: "CURLOPT_SSL_EC_CURVES")
    static let signatureAlgorithms = StringOption(
        number: CURLoption(rawValue: 10_328), name: "CURLOPT_SSL_SIGNATURE_ALGORITHMS")
    static let proxy = StringOption(number: CURLOPT_PROXY, name: "CURLOPT_PROXY")
    static let proxyUser = StringOption(number: CURLOPT_PROXYUSERNAME, name: "CURLOPT_PROXYUSERNAME")
    static let proxyPassword = StringOption(number: CURLOPT_PROXYPASSWORD, name: "CURLOPT_PROXYPASSWORD")
    static let noProxy = StringOption(number: CURLOPT_NOPROXY, name: "CURLOPT_NOPROXY")
    static let unixSocketPath = StringOption(number: CURLOPT_UNIX_SOCKET_PATH, name: "CURLOPT_UNIX_SOCKET_PATH")
    static let abstractUnixSocket = StringOption(
        number: CURLOPT_ABSTRACT_UNIX_SOCKET, name: "CURLOPT_ABSTRACT_UNIX_SOCKET")
    static let interface = StringOption(number: CURLOPT_INTERFACE, name: "CURLOPT_INTERFACE")
    static let dnsOverHTTPS = StringOption(number: CURLOPT_DOH_URL, name: "CURLOPT_DOH_URL")
    static let caDirectory = StringOption(number: CURLOPT_CAPATH, name: "CURLOPT_CAPATH")
}

/// An option that takes a list of texts, which lives until the handle is closed.
struct ListOption {
    let number: CURLoption
    let name: StaticString

    static let headerLines = ListOption(number: CURLOPT_HTTPHEADER, name: "CURLOPT_HTTPHEADER")
    static let proxyHeaderLines = ListOption(number: CURLOPT_PROXYHEADER, name: "CURLOPT_PROXYHEADER")
    static let resolve = ListOption(number: CURLOPT_RESOLVE, name: "CURLOPT_RESOLVE")
    static let connectTo = ListOption(number: CURLOPT_CONNECT_TO, name: "CURLOPT_CONNECT_TO")
}

/// An option that takes bytes, which libcurl copies.
struct BlobOption {
    let number: CURLoption
    let name: StaticString

    static let authorities = BlobOption(number: CURLOPT_CAINFO_BLOB, name: "CURLOPT_CAINFO_BLOB")
    static let proxyAuthorities = BlobOption(number: CURLOPT_PROXY_CAINFO_BLOB, name: "CURLOPT_PROXY_CAINFO_BLOB")
    static let certificate = BlobOption(number: CURLOPT_SSLCERT_BLOB, name: "CURLOPT_SSLCERT_BLOB")
    static let key = BlobOption(number: CURLOPT_SSLKEY_BLOB, name: "CURLOPT_SSLKEY_BLOB")
}

/// The values of options as Swift integers.
enum OptionValue {
    static let httpProtocols = ccurl_http_bits
    static let tls1_2 = ccurl_sslversion_tls1_2
    static let http1_0 = ccurl_http_version_1_0
    static let http1_1 = ccurl_http_version_1_1
    static let http2OverTLS = ccurl_http_version_2
    static let http2PriorKnowledge = ccurl_http_version_2_prior_knowledge
    static let http3 = ccurl_http_version_3
    static let http3Only = ccurl_http_version_3_only
    static let ifModifiedSince = ccurl_time_if_modified
    /// CURLHEADER_SEPARATE.
    static let separateHeaders = 1
    /// CURL_NETRC_IGNORED.
    static let netrcIgnored = 0
    /// CURLAUTH_NONE.
    static let noAuth = 0
    static let basic = ccurl_auth_basic
    static let digest = ccurl_auth_digest

    /// Returns CURL_SSLVERSION_TLSv1_x, with CURL_SSLVERSION_MAX_TLSv1_x where there is a maximum version.
    static func tls(from minimum: TransportOptions.TLS.Version, upTo maximum: TransportOptions.TLS.Version?) -> Int {
        let newest = maximum.map { (ccurl_sslversion_tls1_0 + $0.rawValue) << ccurl_sslversion_maximum_shift } ?? 0
        return ccurl_sslversion_tls1_0 + minimum.rawValue | newest
    }

    /// Returns the CURL_IPRESOLVE_* value.
    static func ipResolve(_ version: TransportOptions.Connection.IPVersion) -> Int {
        switch version {
        case .any: 0
        case .v4: 1
        case .v6: 2
        }
    }
}
