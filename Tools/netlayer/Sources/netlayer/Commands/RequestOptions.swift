import Foundation
import NetworkLayer

/// The options of a command that describe requests.
///
/// Each command has these groups itself: within another group they would multiply the time that a debug build needs to
/// parse, because ArgumentParser checks each group within each check of the group around it.
protocol RequestOptions {
    var flags: RequestFlags { get }
    var wireFlags: WireFlags { get }
}

extension RequestOptions {
    func request(
        to url: String, form: RequestContent.Encoded? = nil, files: InputFiles
    ) async throws -> TransportRequest {
        var request = try TransportRequest(to: flags.query.map { Self.adding($0, to: url) } ?? url)
        for header in flags.headers {
            let (name, value) = header.splitAtColon
            let isEmpty = !header.contains(byte: UInt8(ascii: ":"))
            try request.headerFields.append(checking: isEmpty ? String(header.dropLast()) : name, value: value)
        }
        func add(_ name: String, _ value: String?) throws {
            guard let value, let name = HTTPField.Name(name), !request.headerFields.contains(name) else { return }
            request.headerFields.append(try HTTPField(checking: name.rawName, value: value))
        }
        if !flags.cookie.isEmpty {
            request.headerFields.append(
                try HTTPField(checking: "Cookie", value: flags.cookie.joined(separator: "; ")))
        }
        try add("User-Agent", flags.userAgent)
        try add("Referer", flags.referer)
        if let content = try await flags.content(files) {
            request.body = .bytes(content.body)
            try add("Content-Type", content.type)
            if flags.json != nil { try add("Accept", content.type) }
        } else if let form {
            request.body = form.body
            try add("Content-Type", form.contentType)
        }
        let method = try flags.method.map { try HTTPRequest.Method(checking: $0) }
        let usual = flags.head ? HTTPRequest.Method.head : flags.uploadFile != nil ? .put : .post
        request.method = method ?? (request.body == nil && !flags.head ? .get : usual)
        request.options.decompress = !flags.raw
        try wireFlags.apply(to: &request.options)
        request.options.authentication = flags.authentication
        if let range = flags.range { try request.ask(forPart: range) }
        return request
    }

    private static func adding(_ query: String, to url: String) -> String {
        let start = url.utf8.prefix { $0 != UInt8(ascii: "#") }
        let mark = start.contains(UInt8(ascii: "?")) ? "&" : "?"
        return String(Substring(start)) + mark + query + String(Substring(url.utf8.dropFirst(start.count)))
    }
}

extension RequestFlags {
    fileprivate var authentication: TransportOptions.Authentication? {
        guard let (user, value) = user?.splitAtColon else { return nil }
        let password = TransportOptions.Secret(value)
        if var signature {
            (signature.keyID, signature.secretKey) = (user, password)
            return .awsSigV4(signature)
        }
        return switch scheme {
        case .basic, nil: .basic(user: user, password: password)
        case .digest: .digest(user: user, password: password)
        case .anyauth: .anySafe(user: user, password: password)
        }
    }

    func client(
        over transport: any HTTPTransport, for url: RequestURL, token: TransportOptions.Secret?
    ) throws -> NetworkClient {
        var client = NetworkClient(transport: transport)
        client.redirectPolicy = location ? .standard : .none
        if let maxRedirects { client.redirectPolicy.maximumRedirects = maxRedirects }
        if retry > 0 {
            var policy = RetryInterceptor.Policy()
            policy.maximumRetries = retry
            client.interceptors.append(.retry(policy, budget: RetryInterceptor.Budget(capacity: Double(retry))))
        }
        if let token {
            client.exchangeInterceptors.append(try BearerAuthentication(for: [url.absoluteString], token: token))
        }
        return client
    }

    /// What a call does beyond one exchange, in words that have no secrets.
    var steps: [String] {
        var steps: [String] = []
        if location { steps.append("redirects \(maxRedirects ?? RedirectPolicy.standard.maximumRedirects)") }
        if retry > 0 { steps.append("retries \(retry)") }
        if bearer ?? bearerEnv ?? bearerFile != nil { steps.append("a bearer token") }
        return steps
    }

    func token(from files: InputFiles) async throws -> TransportOptions.Secret? {
        if let bearer { return TransportOptions.Secret(bearer) }
        if let bearerEnv {
            guard let value = ProcessInfo.processInfo.environment[bearerEnv] else {
                let name = ShownName.variable(bearerEnv)
                throw ToolFailure(.usage, "the environment has no variable \(name) (--bearer-env)")
            }
            return TransportOptions.Secret(value)
        }
        guard let bearerFile else { return nil }
        let bytes = try await files.bytes(
            of: bearerFile, name: "the file \(ShownName.path(bearerFile)) (--bearer-file)", limit: 65_536)
        return TransportOptions.Secret(
            String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
    }
}
