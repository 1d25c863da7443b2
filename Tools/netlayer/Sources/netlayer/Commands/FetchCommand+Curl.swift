import NetworkLayer

extension FetchCommand {
    /// Returns the request as a curl command, with the options of more than one exchange as options of curl.
    func curlCommand(for request: TransportRequest) async throws -> String {
        var words: [String] = []
        var notes: [String] = []
        let request = try await flags.adding(try jar(), to: request)
        try request.check()
        if let difference = flags.difference(ofCurlFor: request, keepsCookies: cookieJar != nil) {
            throw ToolFailure(.usage, "--curl: \(difference)")
        }
        if flags.location {
            words += [
                "--location", "--max-redirs", "\(flags.maxRedirects ?? RedirectPolicy.standard.maximumRedirects)",
            ]
            // The library follows no redirect from https to http, and none to another protocol.
            words += ["--proto-redir", request.url.scheme == "https" ? "=https" : "=http,https"]
            notes.append(
                "curl also follows 300 and 305, and a Location with a user and a password, and sends credentials again "
                    + "when redirects lead back to their origin")
        }
        // Other requests are sent once; curl would repeat them.
        if flags.retry > 0, flags.repeats(request) {
            words += ["--retry", "\(flags.retry)", "--retry-connrefused"]
            notes.append("curl retries after 500 too, but not after 425 or a connection that breaks")
            if let timeout {
                // Beyond it, curl begins no other try.
                words += ["--retry-max-time", "\(max(1, Int(timeout.rounded(.up))))"]
                notes.append("curl's --max-time is that of each try, not of all")
            }
        }
        if let maxBody { words += ["--max-filesize", "\(maxBody)"] }
        if fail { words.append("--fail") }
        return request.curlCommand(secrets: delivery.showSecrets ? .revealed : .redacted, adding: words)
            + (notes.isEmpty ? "" : "  # " + notes.joined(separator: "; "))
    }
}

extension RequestFlags {
    fileprivate func repeats(_ request: TransportRequest) -> Bool {
        RetryInterceptor.Policy().methods.contains(request.method) && request.body?.isReplayable ?? true
    }

    /// Returns what curl would do otherwise after the first response; `nil` if it does the same.
    ///
    /// The rules of ``RedirectPolicy`` depend on the status. curl's `-X` sets the method of all requests and its `-H`
    /// the fields of all; only the method that follows from its own options changes with a redirect, and only
    /// Authorization and Cookie stay with their origin.
    fileprivate func difference(ofCurlFor request: TransportRequest, keepsCookies: Bool) -> String? {
        let severalExchanges = location || retry > 0 && repeats(request)
        if keepsCookies, severalExchanges {
            return "with --cookie-jar, a later request of --location or --retry sends the cookies that a response has "
                + "set, which curl's fixed Cookie field can't do"
        }
        guard location else { return nil }
        let (method, fields) = (request.method, request.wireFields)
        guard method == .post || (method == .get || method == .head) && request.body == nil else {
            return "with --location, curl keeps \(method.rawValue) and drops the body, whatever the redirect's status "
                + "says; only GET and HEAD without a body, and POST, have the same redirects"
        }
        let ofContent = fields.first { $0.name.canonicalName.hasPrefix("content-") && $0.name != .contentLength }
        if method == .post, let field = ofContent {
            return "with --location, curl sends '\(field.name)' also with the GET that may follow a POST"
        }
        let ofOneOrigin = fields.first { field in
            let name = field.name
            if name == .authorization || name == .cookie { return false }
            return SecretFields.contains(name) || request.options.secretFields.contains(name)
                || ["host", "referer"].contains(name.canonicalName)
        }
        if let field = ofOneOrigin { return "with --location, curl takes '\(field.name)' along to other origins" }
        if request.options.tls.clientCertificate != nil {
            return "with --location, curl takes the client certificate along to other origins"
        }
        return nil
    }

    /// Returns the request with the token and the cookies that its first exchange sends.
    fileprivate func adding(_ jar: CookieJar?, to request: TransportRequest) async throws -> TransportRequest {
        var request = request
        if let token = try await token(from: InputFiles()), !request.headerFields.contains(.authorization),
            request.options.authentication == nil
        {
            request.headerFields.append(try HTTPField(checking: "Authorization", value: "Bearer \(token.value)"))
        }
        if let value = jar?.fieldValue(for: request.url, after: request.headerFields[.cookie]) {
            request.headerFields.removeAll { $0.name == .cookie }
            request.headerFields.append(try HTTPField(checking: "Cookie", value: value))
        }
        return request
    }
}
