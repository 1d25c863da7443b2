import HTTPTypes
import NetworkCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The URL (CURLOPT_URL, CURLOPT_CURLU), parsed and checked before; libcurl gets the serialised result.
struct TargetOption: EasyOption {
    let url: RequestURL

    func apply(to easy: EasyHandle) throws {
        // Some libcurls forget an empty query when they copy the parts (before 8.14).
        try easy.setTarget(url.absoluteString, isCopiedWhole: url.query != "")
    }
}

/// Method and body: CURLOPT_HTTPGET, NOBODY, POST, CUSTOMREQUEST, POSTFIELDSIZE_LARGE.
struct MethodAndBodyOption: EasyOption {
    let method: HTTPMethod
    let body: RequestBody?

    func apply(to easy: EasyHandle) throws {
        switch (method, body) {
        case (.get, nil): try easy.set(.httpGet, 1)
        case (.head, _): try easy.set(.noBody, 1)
        default:
            // POST is libcurl's form of 'a request with a body of this length, 0 included'.
            try easy.set(.post, 1)
            if method != .post { try easy.set(.customRequest, method.rawValue) }
            try (body ?? .bytes(Data())).attach(to: easy)
        }
    }
}

/// How a body gets to libcurl.
enum BodyPassage {
    case none
    /// Copied at once (CURLOPT_COPYPOSTFIELDS); libcurl sends it together with the head.
    case copied
    /// Fetched piece by piece (CURLOPT_READFUNCTION).
    case fetched
    /// The same, from a task that makes it.
    case streamed

    /// The largest body that is copied, in bytes.
    static let maximumCopied = 16_384

    init(_ body: RequestBody?) {
        self =
            switch body?.content {
            case nil: .none
            case .bytes(let bytes): bytes.count <= Self.maximumCopied ? .copied : .fetched
            case .produced: .streamed
            }
    }
}

extension RequestBody {
    func attach(to easy: EasyHandle) throws {
        switch content {
        case .bytes(let bytes) where BodyPassage(self) == .copied: try easy.setCopiedBody(bytes)
        case .bytes(let bytes): try easy.setReadBody(RequestBodyReader(.bytes(bytes)), count: bytes.count)
        case .produced(let producer):
            // -1 is 'unknown': chunked over HTTP/1.1, frames over HTTP/2.
            let upload = UploadChannel(producer)
            try easy.setReadBody(RequestBodyReader(.upload(upload)), count: producer.length ?? -1)
        }
    }
}

/// The header fields (CURLOPT_HTTPHEADER). A first `Accept: */*` is left to libcurl, which writes the same in the same place:
/// it looks through the list for each field that it knows.
struct HeaderFieldsOption: EasyOption {
    let fields: HTTPFields
    var hasBody = true

    private static let acceptAnything = HTTPField(name: .accept, value: "*/*")

    func apply(to easy: EasyHandle) throws {
        var lines: [String] = []
        let leavesAccept = fields.first == Self.acceptAnything && fields[values: .accept].count == 1
        for field in leavesAccept ? fields.dropFirst() : fields[...] {
            // `Name:` would remove a field and a value of white space vanishes; `Name;` sends it empty.
            if field.value.isEmpty {
                lines.append("\(field.name.rawName);")
            } else {
                lines.append("\(field.name.rawName): \(field.value)")
            }
        }
        if hasBody {
            // Not invented for us: libcurl's form type, and the wait of up to a second for '100 Continue'.
            if !fields.contains(.contentType) { lines.append("Content-Type:") }
            if !fields.contains(.expect) { lines.append("Expect:") }
        }
        try easy.set(.headerLines, lines)
    }
}

/// The protocol (CURLOPT_HTTP_VERSION, CURLOPT_PIPEWAIT).
struct HTTPVersionOption: EasyOption {
    let version: TransportOptions.HTTPVersion
    /// Whether TLS is spoken, in whose handshake HTTP/2 is agreed on.
    let isSecure: Bool
    /// Whether it receives at a limited speed.
    let isLimited: Bool
    let support: LibcurlSupport

    func apply(to easy: EasyHandle) throws {
        let disturbs = isLimited && support.suffers(from: .http2ReceivingLimitFails)
        switch version {
        case .http1_0: try easy.set(.httpVersion, OptionValue.http1_0)
        case .http1_1: try easy.set(.httpVersion, OptionValue.http1_1)
        case .http2PriorKnowledge:
            try easy.set(.httpVersion, OptionValue.http2PriorKnowledge)
            if disturbs || support.suffers(from: .http2PriorKnowledgeServesOnce) {
                try easy.set(.freshConnect, 1)
                try easy.set(.forbidReuse, 1)
            }
        // A kept connection in clear is not taken for these by newer libcurls, although they mean HTTP/1.1 there.
        case .http2 where !isSecure, .http3 where !isSecure: try easy.set(.httpVersion, OptionValue.http1_1)
        case .http2 where disturbs: try easy.set(.httpVersion, OptionValue.http1_1)
        case .http2: try setHTTP2(easy)
        case .http3: try easy.set(.httpVersion, OptionValue.http3)
        case .automatic where support.speaksHTTP1(version, isSecure: isSecure):
            try easy.set(.httpVersion, OptionValue.http1_1)
        case .automatic: try setHTTP2(easy)
        }
    }

    private func setHTTP2(_ easy: EasyHandle) throws {
        try easy.set(.httpVersion, OptionValue.http2OverTLS)
        // A burst waits for the first connection to tell whether it multiplexes, instead of opening one each.
        try easy.set(.pipeWait, 1)
    }
}

/// libcurl's own connect timeout (CURLOPT_CONNECTTIMEOUT_MS), by which it also divides the time among several addresses.
///
/// Left alone below 7.87: there an expiry during the name lookup joins the resolver's thread and stops the whole loop. The
/// loop's own clock keeps the timeout everywhere.
struct ConnectTimeoutOption: EasyOption {
    let timeout: Duration?
    let support: LibcurlSupport

    func apply(to easy: EasyHandle) throws {
        guard let timeout, support.has(.quickExit) else { return }
        try easy.set(.connectTimeout, timeout.roundedUpMilliseconds)
    }
}

extension HTTPField.Name {
    static let host = Self("Host")!
}

/// Straight to the server while no variable of the environment names a proxy. libcurl would look for them again before each
/// request, which costs as much as a tenth of a small one.
struct NoProxyOption: EasyOption {
    private static let variables = [
        "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY",
    ]

    func apply(to easy: EasyHandle) throws {
        if !Self.variables.contains(where: EnvironmentVariable.isSet) { try easy.goStraight() }
    }
}

/// The wire log (CURLOPT_DEBUGFUNCTION, CURLOPT_VERBOSE).
struct WireLogOption: EasyOption {
    let log: WireLog?

    func apply(to easy: EasyHandle) throws {
        if let log { try easy.setWireLog(log) }
    }
}

extension TransportRequest {
    /// Everything that is set for this request, in order.
    func easyOptions(for support: LibcurlSupport) throws -> [any EasyOption] {
        let common: [any EasyOption] = [
            HardenedDefaults(support: support),
            TargetOption(url: url),
            MethodAndBodyOption(method: method, body: try wireBody()),
            HeaderFieldsOption(fields: wireFields, hasBody: hasWireBody),
            HTTPVersionOption(
                version: options.httpVersion, isSecure: url.scheme == "https",
                isLimited: options.hasRareOptions && options.rate.maximumReceived != nil, support: support),
            ConnectTimeoutOption(timeout: options.connectTimeout, support: support),
            WireLogOption(log: options.wireLog),
            NoProxyOption(),
        ]
        return options.hasRareOptions ? common + rareOptions(for: support) : common
    }

    /// Whether libcurl sends a body, if only an empty one.
    private var hasWireBody: Bool { body != nil || method != .get && method != .head }

    /// The groups that are not at their defaults.
    private func rareOptions(for support: LibcurlSupport) -> [any EasyOption] {
        let (tls, names) = (options.tls, options.names)
        var list: [any EasyOption] = []
        if tls != TLSOptions() { list.append(TLSOption(options: tls)) }
        if tls.serverName != nil || names != NameOptions() {
            list.append(NameOption(options: names, support: support))
            list.append(RouteOption(url: url, names: names, serverName: tls.serverName, support: support))
        }
        if tls.serverName != nil, !headerFields.contains(.host) {
            list.append(HeaderFieldsOption(fields: [.host: url.authority] + wireFields, hasBody: hasWireBody))
        }
        list.append(ProxyOption(options: options, isSecure: url.scheme == "https"))
        if options.connection != ConnectionOptions() { list.append(ConnectionOption(options: options.connection)) }
        if options.rate != RateOptions() { list.append(RateOption(options: options.rate)) }
        if let authentication = options.authentication {
            list.append(AuthenticationOption(authentication: authentication, isSecure: url.scheme == "https"))
        }
        if options.addressPolicy != .any { list.append(AddressPolicyOption(support: support)) }
        return list
    }
}
