import NetworkTesting
import TestSupport
import Testing

@testable import NetworkCore

@Suite("Credentials in a URL", .patience(minutes: 1))
struct URLCredentialsTests {
    @Test(
        arguments: [
            ("http://user:password@h/a?b", "http://h/a?b", "user", "password"),
            ("https://user@h:8443/", "https://h:8443/", "user", ""),
            ("http://:password@h", "http://h/", "", "password"),
            ("http://a:b:c@h/", "http://h/", "a", "b:c"),
            ("http://a%40b:p%3A%2F%25%20%C3%A9@h/", "http://h/", "a@b", "p:/% é"),
            ("http://jörg:pässwort@h/", "http://h/", "jörg", "pässwort"),
            ("http://u!$&'()*+,;=~-._:%5B@[::1]:80/", "http://[::1]:80/", "u!$&'()*+,;=~-._", "["),
            ("HTTP://U:P@H/", "http://h/", "U", "P"),
            ("http://h%2fx:y@b/@c", "http://b/@c", "h/x", "y"),
        ])
    func `user and password are taken out of the URL`(text: String, url: String, user: String, password: String) throws
    {
        let parts = try RequestURL.separatingCredentials(from: text)
        #expect(parts.url.absoluteString == url)
        #expect(parts.credentials == .basic(user: user, password: TransportOptions.Secret(password)))
        let request = try TransportRequest(to: text)
        #expect(request.url == parts.url)
        #expect(request.wireFields[.authorization] == parts.credentials?.fieldValue)
        try parts.credentials?.check()
        expectFailure(.invalidURL) { try RequestURL(text) }
    }

    /// Base64 takes a third more than the password, which has a limit of its own.
    /// Regression: a user of digits, before a password with a character that ends the authority, was quoted as a host.
    @Test(arguments: ["#", "/", "?"]) func `a user that looks like a host is not shown`(character: String) {
        let text = "https://4711008812345:pa\(character)ss@host/"
        let error = expectFailure(.invalidURL) { try RequestData(path: text).transportRequest() }
        #expect(error.map { !"\($0)\($0.message)".contains("4711008812345") } == true)
    }

    @Test func `credentials too long for a header field are refused before anything is sent`() throws {
        let longest = String(repeating: "p", count: 49_144)
        try TransportRequest(to: "http://u:\(longest)@h/").check()
        var options = TransportOptions()
        for password in [longest + "p", String(repeating: "p", count: 65_000)] {
            options.authentication = .basic(user: "u", password: TransportOptions.Secret(password))
            let inURL = try TransportRequest(to: "http://u:\(password)@h/")
            for request in [inURL, try TransportRequest(to: "http://h/", options: options)] {
                let error = expectFailure(.invalidHeaderField) { try request.check() }
                #expect(error?.message.contains("Authorization") == true && error?.message.contains("pp") == false)
            }
        }
    }

    @Test(arguments: ["http://h/", "http://@h/", "http://:@h/"])
    func `a URL without any sends nothing`(text: String) throws {
        let request = try TransportRequest(to: text)
        #expect(request.url.absoluteString == "http://h/")
        #expect(request.wireFields[.authorization] == nil)
        #expect(request.options == TransportOptions())
    }

    @Test(arguments: [
        "http://a@b@h/", "http://a:b@c@h/", "http://[::1]@h/", "http://a:]@h/", "http://a%3Ab:c@h/", "http://a:%ff@h/",
        "http://%c0%ae@h/", "http://a:%@h/", "http://a:%4@h/", "http://a%00:b@h/", "http://a:b%0d%0aX@h/",
        "http://a%7f@h/", "http://a\u{7F}@h/", "http://a\t:b@h/", "http://a\\:b@h/", "http://a:b@", "http://a:b@/x",
        "http://a:b@:80/", "http://a:b@h:x/", "//a:b@h/", "a:b@h/", "ftp://a:b@h/",
    ])
    func `a URL that can be read in two ways is refused`(text: String) {
        expectFailure(.invalidURL) { try RequestURL.separatingCredentials(from: text) }
        expectFailure(.invalidURL) { try RequestData(path: text).transportRequest() }
        expectFailure(.invalidURL) { try RequestData(path: "x", baseURL: text).transportRequest() }
    }

    @Test func `every kind of text gives the same request`() throws {
        let expected = "Basic dTpw"
        for request in [
            try RequestData(path: "http://u:p@h/v1/x").transportRequest(),
            try RequestData(path: "x", baseURL: "http://u:p@h/v1").transportRequest(),
            try RequestData(path: "http://u:p@h/v1/x", query: [:]).transportRequest(),
            try TransportRequest(to: "http://u:p@h/v1/x"),
        ] {
            #expect(request.url.absoluteString == "http://h/v1/x")
            #expect(request.wireFields[values: .authorization] == [expected])
            #expect(request.headerFields.isEmpty)
        }
        // A path contains no credentials: an '@' in it is part of the path.
        let path = try RequestData(path: "u:p@h/x", baseURL: "http://h").transportRequest()
        #expect(path.url.absoluteString == "http://h/u:p@h/x")
        #expect(path.wireFields[.authorization] == nil)
    }

    @Test func `the caller's own credentials win`() throws {
        var request = try TransportRequest(to: "http://u:p@h/", headerFields: [.authorization: "Own x"])
        #expect(request.wireFields[values: .authorization] == ["Own x"])
        try request.check(for: AnsweringTransport(.init()).capabilities)
        request = try TransportRequest(to: "http://u:p@h/")
        request.options.authentication = .bearer(token: "t")
        #expect(request.wireFields[values: .authorization] == ["Bearer t"])
        // The transport performs Digest, and Basic must not reveal the password before that.
        request.options.authentication = .digest(user: "d", password: "s")
        #expect(request.wireFields[.authorization] == nil)
    }

    @Test(
        arguments: [
            ("/2", "Basic dTpw"), ("http://a:80/2", "Basic dTpw"), ("http://b/2", nil), ("https://a/2", nil),
            ("http://a:81/2", nil), ("//a./2", nil),
        ] as [(String, String?)])
    func `on redirects, user and password stay with their origin`(location: String, field: String?) async throws {
        let transport = AnsweringTransport(.redirect(to: location), .redirect(to: "http://a/3"), .init())
        var client = NetworkClient(transport: transport)
        client.redirectPolicy.allowsDowngrade = true
        _ = try await client.send(RequestData(path: "http://u:p@a/1"), as: .data).body
        // Credentials that were dropped do not return on the way back.
        #expect(transport.requests.map { $0.wireFields[.authorization] } == ["Basic dTpw", field, field])
    }

    @Test func `another URL does not get them`() throws {
        var request = try TransportRequest(to: "https://u:p@a/")
        request.url = try RequestURL("https://b/")
        #expect(request.wireFields[.authorization] == nil)
        request.url = try RequestURL("https://a:443/other")
        #expect(request.wireFields[.authorization] == "Basic dTpw")
        let next = try TransportRequest(to: "https://a/", options: request.options)
        #expect(next.wireFields[.authorization] == nil)
    }

    @Test(arguments: ["http://u:p@a/2", "//u@a/2", "http://u:p@b/", "https://@b/"])
    func `a Location with user and password is handed back`(location: String) async throws {
        let transport = AnsweringTransport(.redirect(to: location), .init())
        let response = try await NetworkClient(transport: transport).send(try .make(.get, "http://a/1"), as: .stream)
        #expect(response.status.code == 302)
        #expect(transport.requests.count == 1)
    }

    @Test func `no printer shows user and password`() throws {
        let request = try TransportRequest(to: "http://u5er:pa55@h/a")
        var texts = ["\(request.url)", request.url.absoluteString, request.curlCommand(), request.url.authority]
        for value in [request.url, request.options] as [Any] {
            var text = ""
            dump(value, to: &text)
            texts += [text, String(reflecting: value), "\(value)"]
        }
        for text in texts {
            for secret in ["u5er", "pa55", "dTVlcjpwYTU1"] { #expect(!text.contains(secret), "\(text)") }
        }
    }

    @Test func `the setup of one request is not the setup of another`() throws {
        let with = try TransportRequest(to: "http://u:p@h/"), without = try TransportRequest(to: "http://h/")
        #expect(with.options != without.options)
        #expect(with.options != (try TransportRequest(to: "http://u:q@h/")).options)
    }

    @Test(arguments: [
        ("http://other/", true, true), ("http://h/a", true, false), ("http://h/away", true, true),
        ("http://other/", false, false),
    ])
    func `a 401 says when the client's credentials stayed behind`(
        url: String, hasCredentials: Bool, isNamed: Bool
    ) async throws {
        let stub = StubTransport()
        stub.when(.get("/away"), .status(302, headerFields: [.location: "http://other/"]))
        stub.always(.any, .status(401))
        var client = NetworkClient(transport: stub, baseURL: "http://h")
        if hasCredentials { client.headerFields[.authorization] = "Bearer token" }
        let error = await expectFailure(.unacceptableStatus) { [client] in
            try await client.send(RequestData(url: url), as: .text).body
        }
        #expect(error?.message.contains("credentials were not sent") == isNamed)
    }

    @Test(arguments: [true, false])
    func `a 401 says when a token is for another origin, and not when its refresh fails`(isOutermost: Bool) async throws
    {
        let stub = StubTransport(always: .status(401))
        var client = NetworkClient(transport: stub, baseURL: "http://h")
        let own = client
        let bearer = try BearerAuthentication(for: ["http://h"]) { [own] _ in
            _ = try await own.send(RequestData(path: "token", method: .post), as: .text)
            return "token"
        }
        if isOutermost { client.interceptors = [bearer] } else { client.exchangeInterceptors = [bearer] }
        for (url, isNamed) in [("http://other/", true), ("http://h/", false)] {
            let error = await expectFailure(.unacceptableStatus) { [client] in
                try await client.send(RequestData(url: url), as: .text).body
            }
            #expect(error?.message.contains("credentials were not sent") == isNamed, "\(url)")
        }
    }

    @Test(
        arguments: [
            ("http://me:p%40ss@proxy:3128", "http://proxy:3128", "me", "p@ss"),
            ("socks5h://me@[::1]:1", "socks5h://[::1]:1", "me", ""),
            ("http://@proxy", "http://proxy", nil, nil), ("http://proxy:1", "http://proxy:1", nil, nil),
        ] as [(String, String, String?, String?)])
    func `user and password of a proxy are taken out of its URL`(
        text: String, url: String, user: String?, password: String?
    ) throws {
        let proxy = TransportOptions.Proxy.Server(text)
        #expect(proxy.url == url)
        #expect(proxy.user == user)
        #expect(proxy.password?.value == password)
        try proxy.check()
        let own = TransportOptions.Proxy.Server(text, user: "own", password: "own")
        #expect(own.url == url)
        #expect(own.user == "own")
        #expect(own.password?.value == "own")
    }

    @Test(arguments: ["http://a@b@proxy", "http://a:%00@proxy", "http://a:%ff@proxy", "http://[a]@proxy", "a:b@proxy"])
    func `a proxy URL that can be read in two ways is refused`(text: String) {
        expectFailure(.invalidOption) { try TransportOptions.Proxy.Server(text).check() }
    }
}
