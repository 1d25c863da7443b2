import CCurl

/// An option that takes a `long`.
struct LongOption {
    let number: CURLoption
    let name: StaticString

    static let noSignal = LongOption(number: CURLOPT_NOSIGNAL, name: "CURLOPT_NOSIGNAL")
    static let quickExit = LongOption(number: ccurl_opt_quick_exit, name: "CURLOPT_QUICK_EXIT")
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
    static let netrc = LongOption(number: CURLOPT_NETRC, name: "CURLOPT_NETRC")
    static let headerOptions = LongOption(number: CURLOPT_HEADEROPT, name: "CURLOPT_HEADEROPT")
    static let suppressConnectHeaders = LongOption(
        number: CURLOPT_SUPPRESS_CONNECT_HEADERS, name: "CURLOPT_SUPPRESS_CONNECT_HEADERS")
    static let protocols = LongOption(number: ccurl_opt_protocols, name: "CURLOPT_PROTOCOLS")
    static let redirectProtocols = LongOption(number: ccurl_opt_redir_protocols, name: "CURLOPT_REDIR_PROTOCOLS")
    static let maxConnectionIdle = LongOption(number: CURLOPT_MAXAGE_CONN, name: "CURLOPT_MAXAGE_CONN")
    static let maxConnectionLife = LongOption(number: ccurl_opt_maxlifetime_conn, name: "CURLOPT_MAXLIFETIME_CONN")
    static let bufferSize = LongOption(number: CURLOPT_BUFFERSIZE, name: "CURLOPT_BUFFERSIZE")
    static let connectTimeout = LongOption(number: CURLOPT_CONNECTTIMEOUT_MS, name: "CURLOPT_CONNECTTIMEOUT_MS")
    static let httpVersion = LongOption(number: CURLOPT_HTTP_VERSION, name: "CURLOPT_HTTP_VERSION")
    static let pipeWait = LongOption(number: CURLOPT_PIPEWAIT, name: "CURLOPT_PIPEWAIT")
    static let pathAsIs = LongOption(number: CURLOPT_PATH_AS_IS, name: "CURLOPT_PATH_AS_IS")
    static let httpGet = LongOption(number: CURLOPT_HTTPGET, name: "CURLOPT_HTTPGET")
    static let noBody = LongOption(number: CURLOPT_NOBODY, name: "CURLOPT_NOBODY")
    static let post = LongOption(number: CURLOPT_POST, name: "CURLOPT_POST")
}

/// An option that takes a `curl_off_t`.
struct OffsetOption {
    let number: CURLoption
    let name: StaticString

    static let postFieldSize = OffsetOption(number: CURLOPT_POSTFIELDSIZE_LARGE, name: "CURLOPT_POSTFIELDSIZE_LARGE")
}

/// An option that takes a text, which libcurl copies.
struct StringOption {
    let number: CURLoption
    let name: StaticString

    static let url = StringOption(number: CURLOPT_URL, name: "CURLOPT_URL")
    static let customRequest = StringOption(number: CURLOPT_CUSTOMREQUEST, name: "CURLOPT_CUSTOMREQUEST")
    static let acceptEncoding = StringOption(number: CURLOPT_ACCEPT_ENCODING, name: "CURLOPT_ACCEPT_ENCODING")
    static let protocols = StringOption(number: ccurl_opt_protocols_str, name: "CURLOPT_PROTOCOLS_STR")
    static let redirectProtocols = StringOption(
        number: ccurl_opt_redir_protocols_str, name: "CURLOPT_REDIR_PROTOCOLS_STR")
    static let caDirectory = StringOption(number: CURLOPT_CAPATH, name: "CURLOPT_CAPATH")
}

/// Values of options, as Swift sees them.
enum OptionValue {
    static let httpProtocols = ccurl_http_bits
    static let tls1_2 = ccurl_sslversion_tls1_2
    static let http1_0 = ccurl_http_version_1_0
    static let http1_1 = ccurl_http_version_1_1
    static let http2OverTLS = ccurl_http_version_2
    /// CURLHEADER_SEPARATE.
    static let separateHeaders = 1
    /// CURL_NETRC_IGNORED.
    static let netrcIgnored = 0
    /// CURLAUTH_NONE.
    static let noAuth = 0
}
