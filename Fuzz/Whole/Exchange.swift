import Foundation
import HTTPTypes
import NetworkCore

/// The strings that belong to one request only.
struct Tokens {
    let ask: Int

    private var name: String { "tok\(ask)z" }
    var key: String { name + "-key" }
    var user: String { name + "-user" }
    var password: String { name + "-password" }
    var body: String { name + "-body" }
    /// The value of the cookies that a server sets: scenarios write `cook{i}`.
    static let cookie = "cook"

    private var basic: String { Data("\(user):\(password)".utf8).base64EncodedString() }

    /// The strings that no log may contain. A log may contain the user's name, because libcurl prints whom it
    /// authenticates.
    var unprintable: [String] { [key, password, basic] }
    /// The strings that only their own origin may receive.
    var secrets: [String] { unprintable + [user] }
    /// The strings that no other request may contain.
    var all: [String] { secrets + [body] }
}

/// Creates the request that a scenario describes.
struct Exchange {
    let ask: Ask
    let number: Int
    let peer: PeerAddress
    let log: LineLog

    var tokens: Tokens { Tokens(ask: number) }
    var origin: PeerAddress.Origin { ask.has("second") ? .second : .first }

    /// The total timeout, which is short if the scenario contains silence, and else longer than a busy machine stands
    /// still.
    var totalTimeout: Duration {
        .milliseconds(ask.number("total", in: 5...200) ?? (ask.isStalled ? 30 : 20_000))
    }

    private var isProxied: Bool { ask.has("proxy") || ask.has("tunnel") }

    private var url: String {
        let path = "\(PeerAddress.plainPath)/q\(number)/\(ask.has("query") ? "?access_token=\(tokens.key)" : "")"
        if isProxied { return "http://q\(number).test\(path)" }
        if ask.has("named") { return "http://named.test:\(peer.first)\(path)" }
        return "http://\(peer.authority(origin))\(path)"
    }

    func request() throws -> TransportRequest {
        var fields = HTTPFields()
        if let name = HTTPField.Name("X-Api-Key"), ask.has("key") { fields[name] = tokens.key }
        if ask.has("expect") { fields[.expect] = "100-continue" }
        if ask.has("own-cookie") { fields[.cookie] = "own=\(tokens.key)" }
        let method = HTTPRequest.Method(ask.method) ?? .get
        return TransportRequest(
            method: method, url: try RequestURL(url), headerFields: fields, body: method == .head ? nil : body,
            options: options)
    }

    private var body: TransportRequest.Body? {
        let limits = 0...2_000_000
        if let count = ask.number("body", in: limits) { return .bytes(Data(bytes(count))) }
        if let count = ask.number("stream", in: limits) { return .stream(chunks(count)) }
        if let count = ask.number("sized", in: limits) {
            let count = max(count, tokens.body.utf8.count)
            return .replayableStream(length: count) { chunks(count) }
        }
        return nil
    }

    private func bytes(_ count: Int) -> [UInt8] {
        Array(tokens.body.utf8) + [UInt8](repeating: 0x2E, count: max(0, count - tokens.body.utf8.count))
    }

    private func chunks(_ count: Int) -> AsyncStream<Data> {
        var rest = bytes(count)[...]
        return AsyncStream { continuation in
            while !rest.isEmpty {
                continuation.yield(Data(rest.prefix(16_384)))
                rest = rest.dropFirst(16_384)
            }
            continuation.finish()
        }
    }

    private var options: TransportOptions {
        var options = TransportOptions()
        options.totalTimeout = totalTimeout
        options.maximumBodyBytes = 1 << 20
        options.decompress = !ask.has("raw")
        // A stream of events has no total timeout, and is connected ten times.
        if ask.words["read"] == "events" { options.idleTimeout = .milliseconds(500) }
        if let limit = ask.number("idle", in: 5...200) { options.idleTimeout = .milliseconds(limit) }
        if let limit = ask.number("first", in: 5...200) { options.firstByteTimeout = .milliseconds(limit) }
        if ask.words["version"] == "1.0" { options.httpVersion = .http1_0 }
        if ask.words["version"] == "1.1" { options.httpVersion = .http1_1 }
        if ask.has("h2") { options.httpVersion = .http2PriorKnowledge }
        if ask.has("wirelog") { options.wireLog = WireLog(log.logger) }
        if ask.has("pack") { options.requestCompression = .gzip }
        if ask.has("fresh") { options.connection.isFresh = true }
        if ask.has("no-reuse") { options.connection.forbidsReuse = true }
        if ask.has("rate") { options.rate.maximumReceivedPerSecond = 1 << 24 }
        if ask.has("encodings") { options.acceptedEncodings = TransportOptions.ContentEncoding.allCases }
        setNames(&options)
        setAuthentication(&options)
        return options
    }

    private func setNames(_ options: inout TransportOptions) {
        if ask.has("named") {
            let address = ask.has("zone") ? "::1%lo" : "127.0.0.1"
            options.names.addresses = [.init("named.test", port: Int(peer.first), [address])]
        }
        guard isProxied else { return }
        var proxy = TransportOptions.Proxy.Server(
            "http://\(peer.authority(.first))", user: tokens.user, password: TransportOptions.Secret(tokens.password))
        proxy.tunnel = ask.has("tunnel")
        if ask.words["proxy"] == "digest" { proxy.authenticationScheme = .digest }
        options.proxy = .explicit(proxy)
    }

    private func setAuthentication(_ options: inout TransportOptions) {
        let (user, password) = (tokens.user, TransportOptions.Secret(tokens.password))
        switch ask.words["auth"] {
        case "basic": options.authentication = .basic(user: user, password: password)
        case "bearer": options.authentication = .bearer(token: TransportOptions.Secret(tokens.key))
        case "digest": options.authentication = .digest(user: user, password: password)
        case "any": options.authentication = .anySafe(user: user, password: password)
        default: break
        }
    }
}
