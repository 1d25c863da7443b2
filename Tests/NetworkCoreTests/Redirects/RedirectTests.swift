import Foundation
import Synchronization
import TestSupport
import Testing

@testable import NetworkCore

@Suite(.patience(minutes: 1))
struct RedirectTests {
    private typealias Answer = AnsweringTransport.Answer

    /// Returns the second request of a call that is redirected, or `nil` if there was none.
    private func following(
        _ status: Int,
        _ request: TransportRequest,
        to location: String = "/next",
        _ change: (inout NetworkClient) -> Void = { _ in }
    ) async throws -> TransportRequest? {
        let transport = AnsweringTransport(.redirect(status, to: location), Answer(body: "end"))
        var client = NetworkClient(transport: transport)
        change(&client)
        _ = try await client.send(request, as: .stream)
        return transport.requests.count > 1 ? transport.requests[1] : nil
    }

    /// Regression: the caller's own slow decision was an `idleTimeout`, for which the call was repeated.
    @Test func `a decision that takes too long is refused, and not retried`() async throws {
        let transport = AnsweringTransport(.redirect(307, to: "/next"), Answer(body: "end"))
        var client = NetworkClient(transport: transport)
        client.redirectPolicy = .deciding { proposal in
            try await Task.sleep(for: .seconds(60))
            return .follow(proposal.request)
        }
        client.interceptors = [.retry()]
        var request = TransportRequest(method: .put, url: try RequestURL("http://h/a"))
        request.options.idleTimeout = .milliseconds(10)
        let sent = (client, request)
        await expectFailure(.redirectRefused) { try await sent.0.send(sent.1, as: .data) }
        #expect(transport.requests.count == 1)
    }

    @Test(arguments: [
        (301, HTTPRequest.Method.get, HTTPRequest.Method.get, false), (301, .head, .head, false),
        (301, .post, .get, false),
        (301, .put, .put, true), (301, .delete, .delete, true), (302, .post, .get, false), (302, .patch, .patch, true),
        (303, .get, .get, false), (303, .head, .head, false), (303, .post, .get, false), (303, .put, .get, false),
        (303, .delete, .get, false), (307, .get, .get, true), (307, .post, .post, true), (307, .head, .head, false),
        (308, .post, .post, true), (308, .put, .put, true),
    ])
    func `the method changes as the rules say`(
        status: Int, method: HTTPRequest.Method, next: HTTPRequest.Method, keepsBody: Bool
    )
        async throws
    {
        let body = method == .head || (method == .get && !keepsBody) ? nil : "body"
        let fields: HTTPFields = [.contentType: "text/plain", .contentLanguage: "de", .accept: "x/y"]
        let request = try TransportRequest.make(method, "http://a/b", fields: fields, body: body)
        let second = try #require(try await following(status, request))
        #expect(second.method == next)
        #expect(second.url.absoluteString == "http://a/next")
        #expect((second.body != nil) == keepsBody)
        if keepsBody { #expect(second.body?.knownBytes == Data("body".utf8)) }
        #expect(second.headerFields.contains(.contentType) == (method == next))
        #expect(second.headerFields.contains(.contentLanguage) == (method == next))
        #expect(second.headerFields[.accept] == "x/y")
    }

    @Test(arguments: [HTTPRequest.Method.get, .post])
    func `a 303 drops the body of any method, and what belongs to it`(method: HTTPRequest.Method) async throws {
        let fields: HTTPFields = [
            .contentType: "text/plain", .expect: "100-continue", .trailer: "X-A", .transferEncoding: "chunked",
        ]
        let request = try TransportRequest.make(method, "http://a/b", fields: fields, body: "body")
        let second = try #require(try await following(303, request))
        #expect(second.method == .get && second.body == nil && second.headerFields.isEmpty)
    }

    /// Regression: they stayed, and described a body that the next request did not have.
    @Test(arguments: ["Digest", "Repr-Digest", "Content-Digest", "Last-Modified", "X-Amz-Content-Sha256"])
    func `a field of a body goes with it`(name: String) async throws {
        var request = try TransportRequest.make(.post, "http://a/b", body: "body")
        request.headerFields.append(try HTTPField(checking: name, value: "x"))
        let without = try #require(try await following(302, request))
        #expect(without.headerFields.isEmpty)
        let with = try #require(try await following(307, request))
        #expect(with.headerFields == request.headerFields)
    }

    /// Two that are equal for Swift are two all the same: which of them counts is the server's secret.
    @Test(arguments: [("/next", true), ("/other", false)])
    func `a Location that is repeated is followed if it is the same`(second: String, isFollowed: Bool) async throws {
        var fields: HTTPFields = [.location: "/next"]
        fields.append(HTTPField(name: .location, value: second))
        let transport = AnsweringTransport(Answer(status: 302, fields: fields), Answer(body: "end"))
        _ = try await NetworkClient(transport: transport).send(try .make(.get, "http://a/"), as: .stream)
        #expect(transport.requests.count == (isFollowed ? 2 : 1))
    }

    @Test func `Locations of other bytes are two`() async throws {
        var fields: HTTPFields = [.location: "/\u{E9}"]
        fields.append(HTTPField(name: .location, value: "/e\u{301}"))
        let transport = AnsweringTransport(Answer(status: 302, fields: fields), Answer(body: "end"))
        _ = try await NetworkClient(transport: transport).send(try .make(.get, "http://a/"), as: .stream)
        #expect(transport.requests.count == 1)
    }

    @Test(arguments: [301, 302, 303]) func `a kept method keeps its body`(status: Int) async throws {
        let request = try TransportRequest.make(.post, "http://a/", fields: [.contentType: "t/t"], body: "body")
        let second = try await following(status, request) { $0.redirectPolicy.keepsMethodOn = [status] }
        #expect(second?.method == .post)
        #expect(second?.body?.knownBytes == Data("body".utf8))
        #expect(second?.headerFields[.contentType] == "t/t")
    }

    @Test(arguments: [
        ("http://a/", "http://a:80/x", true), ("http://a/", "http://b/x", false), ("http://a/", "http://a:81/x", false),
        ("http://a/", "https://a/x", false), ("http://a/", "http://x.a/x", false),
    ])
    func `secrets stay with their origin`(from: String, to: String, isSame: Bool) async throws {
        let key = try #require(HTTPField.Name("x-API-key"))
        let own = try #require(HTTPField.Name("X-Own"))
        let amazon = try #require(HTTPField.Name("X-Amz-Security-Token"))
        let names = ["My-Session-Id", "X-Auth-Key", "X-Functions-Key", "Cf-Access-Jwt-Assertion", "Referer", "Api_Key"]
        let others = try names.map { try #require(HTTPField.Name($0)) }
        let fields: HTTPFields = [
            .authorization: "s", .cookie: "c=s", .proxyAuthorization: "s", key: "s", own: "s", amazon: "s",
            .accept: "kept",
        ]
        var request = try TransportRequest.make(.get, from, fields: fields)
        for name in others { request.headerFields[name] = "s" }
        let second = try #require(try await following(302, request, to: to) { $0.secretFields = [own] })
        #expect(second.headerFields[.accept] == "kept")
        for name in [.authorization, .cookie, .proxyAuthorization, key, own, amazon] + others {
            #expect((second.headerFields[name] != nil) == isSame, "\(name)")
        }
    }

    @Test func `credentials of the options stay with their origin`() async throws {
        var request = try TransportRequest.make(.get, "https://a/")
        request.options.authentication = .bearer(token: "s")
        #expect(try await following(302, request)?.wireFields[.authorization] == "Bearer s")
        #expect(try await following(302, request, to: "https://b/")?.wireFields[.authorization] == nil)
    }

    @Test func `values for one server stay with it`() throws {
        var request = try TransportRequest.make(.get, "https://a/")
        request.headerFields.append(try HTTPField(checking: "Host", value: "inner.example"))
        request.options.authentication = .bearer(token: "s")
        request.options.tls.serverName = "inner.example"
        request.options.tls.clientCertificate = .init(.file("/c.pem"))
        request.options.connection.unixSocket = .path("/socket")
        request.options.names.addresses = [.init("b", port: 443, ["127.0.0.1"])]
        let rules = RedirectRules(policy: .standard)
        func next(_ location: String) throws -> TransportRequest? {
            try rules.next(after: request, head: HTTPResponse(status: .found, headerFields: [.location: location]))
        }
        let same = try #require(try next("/x"))
        #expect(same.headerFields == request.headerFields)
        #expect(same.options == request.options)
        let other = try #require(try next("https://b/x"))
        #expect(other.headerFields.isEmpty)
        #expect(other.options.authentication == nil)
        #expect(other.options.tls == TransportOptions.TLS())
        #expect(other.options.connection.unixSocket == nil)
        #expect(other.options.names == request.options.names)
    }

    /// Regression: two fields of a transport that joins them were one URL that no server had named.
    @Test func `a joined Location is handed back`() throws {
        let request = try TransportRequest.make(.get, "https://a/")
        for (location, isFollowed) in [("/x", true), ("/x,y", true), ("/x, /y", false), ("/x, /x", false)] {
            let head = HTTPResponse(status: .found, headerFields: [.location: location])
            let rules = RedirectRules(policy: .standard, joinsFields: true)
            #expect(try (rules.next(after: request, head: head) != nil) == isFollowed, "\(location)")
        }
    }

    /// Regression: over a transport that chooses among others, the rule was that of its first one.
    @Test(arguments: [true, false, nil])
    func `the transport that carried a redirect says whether it joins fields`(joinsFields: Bool?) async throws {
        let transport = AnsweringTransport(.redirect(to: "/x, /y"), Answer())
        struct Choosing: HTTPTransport {
            let transport: AnsweringTransport
            let joinsFields: Bool?
            var name: String { transport.name }
            var capabilities: TransportCapabilities { transport.capabilities }
            func send(_ request: TransportRequest) async throws -> TransportResponse {
                var response = try await transport.send(request)
                response.joinsFields = joinsFields
                return response
            }
        }
        let choosing = Choosing(transport: transport, joinsFields: joinsFields)
        let request = try TransportRequest.make(.get, "http://a/")
        let response = try await NetworkClient(transport: choosing).send(request, as: .stream)
        // The transport itself does not promise to keep fields apart.
        #expect(response.status.code == (joinsFields == false ? 200 : 302))
    }

    @Test func `the way back brings no secrets back`() async throws {
        let transport = AnsweringTransport(.redirect(to: "http://b/"), .redirect(to: "http://a/2"), Answer())
        let request = try TransportRequest.make(.get, "http://a/1", fields: [.authorization: "s"])
        _ = try await NetworkClient(transport: transport).send(request, as: .stream)
        #expect(transport.requests.map { $0.headerFields[.authorization] } == ["s", nil, nil])
    }

    @Test(arguments: [300, 304, 305, 306, 299, 399]) func `another status is handed back`(status: Int) async throws {
        let transport = AnsweringTransport(.redirect(status, to: "/next"))
        let response = try await NetworkClient(transport: transport).send(try .make(.get, "http://a/"), as: .stream)
        #expect(response.status.code == status)
        #expect(transport.requests.count == 1)
    }

    @Test(arguments: ["", "ftp://a/", "http://u:p@a/", "/\\b", "http://[", "/%"])
    func `an unusable Location is handed back`(location: String) async throws {
        let transport = AnsweringTransport(Answer(status: 302, fields: [.location: location], body: "moved"))
        let response = try await NetworkClient(transport: transport).send(try .make(.get, "http://a/"), as: .stream)
        #expect(response.status.code == 302)
        #expect(response.redirects.isEmpty)
        #expect(try await response.body.collect() == Data("moved".utf8))
    }

    @Test func `a one-time body is not sent again`() async throws {
        let chunks = AsyncStream<Data> { $0.finish() }
        for (status, code) in [(307, 307), (302, 200)] {
            let transport = AnsweringTransport(.redirect(status, to: "/next"), Answer())
            var request = try TransportRequest.make(.post, "http://a/")
            request.body = .stream(chunks, length: 0)
            #expect(try await NetworkClient(transport: transport).send(request, as: .stream).status.code == code)
        }
    }

    @Test func `a downgrade is refused unless allowed`() async throws {
        let request = try TransportRequest.make(.get, "https://a/?secret")
        let error = await expectFailure(.redirectRefused) { try await following(301, request, to: "http://a/?secret") }
        #expect(error?.description.contains("https to http") == true)
        #expect(error.map { !"\($0)".contains("secret") } == true)
        #expect(error?.exchange?.url == "https://a/?…")
        let second = try await following(301, request, to: "http://a/") { $0.redirectPolicy.allowsDowngrade = true }
        #expect(second?.url.absoluteString == "http://a/")
    }

    @Test(arguments: [0, 1, 20]) func `the limit holds`(limit: Int) async throws {
        let transport = AnsweringTransport(.redirect(to: "/again?secret"))
        var client = NetworkClient(transport: transport)
        #expect(client.redirectPolicy.maximumRedirects == 20)
        client.redirectPolicy.maximumRedirects = limit
        let error = await expectFailure(.tooManyRedirects) {
            try await client.send(try .make(.get, "http://a/"), as: .stream)
        }
        #expect(transport.requests.count == limit + 1)
        #expect(error?.exchange?.redirectCount == limit)
        #expect(error.map { !"\($0)".contains("secret") } == true)
    }

    @Test func `exactly the limit is fine`() async throws {
        let transport = AnsweringTransport { request in
            let number = Int(request.url.path.dropFirst()) ?? 0
            return number < 20 ? .redirect(to: "/\(number + 1)") : Answer(body: "\(number)")
        }
        let response = try await NetworkClient(transport: transport).send(RequestData(path: "http://a/0"), as: .data)
        #expect(response.body == Data("20".utf8))
        #expect(response.redirects.count == 20)
        #expect(response.redirects.first?.from.path == "/0")
        #expect(response.redirects.last?.to.path == "/20")
        #expect(response.redirects.allSatisfy { $0.status.code == 302 && $0.method == .get })
    }

    /// Regression: a redirect that an interceptor had made came from the URL of the last exchange before it.
    @Test func `a redirect comes from the URL that an interceptor has responded for`() async throws {
        struct Cache: Interceptor {
            func intercept(_ request: TransportRequest, in call: Call, next: Next) async throws -> TransportResponse {
                guard request.url.path == "/b" else { return try await next(request) }
                let head = HTTPResponse(status: .found, headerFields: [.location: "/c"])
                return TransportResponse(head: head, body: .init(Data()))
            }
        }
        let transport = AnsweringTransport(.redirect(to: "/b"), .init(body: "end"))
        var client = NetworkClient(transport: transport)
        client.exchangeInterceptors = [Cache()]
        let response = try await client.send(try .make(.get, "http://h/a"), as: .text)
        #expect(response.redirects.map(\.from.path) == ["/a", "/b"])
        #expect(response.url?.path == "/c")
    }

    @Test func `the policy none follows nothing`() async throws {
        let second = try await following(302, try .make(.get, "http://a/")) { $0.redirectPolicy = .none }
        #expect(second == nil)
    }

    @Test func `a decision follows, stops and refuses`() async throws {
        let request = try TransportRequest.make(.get, "http://a/")
        let audit = Guarded<[String]>([])
        func decided(_ decision: @escaping @Sendable (RedirectPolicy.Proposal) -> RedirectPolicy.Decision) async throws
            -> String?
        {
            try await following(302, request, to: "http://b/x") { client in
                client.redirectPolicy = .deciding { proposal in
                    audit.withLock {
                        $0.append(
                            "\(proposal.followed) \(proposal.head.status.code) \(proposal.redirect.to.absoluteString)")
                    }
                    return decision(proposal)
                }
            }?.url.absoluteString
        }
        #expect(try await decided { .follow($0.request) } == "http://b/x")
        #expect(try await decided { _ in .stop } == nil)
        let error = await expectFailure(.redirectRefused) { try await decided { _ in .refuse("not ours") } }
        #expect(error?.message.hasSuffix("not ours") == true)
        let other = try RequestURL("http://c/")
        let changed = try await decided { proposal in
            var request = proposal.request
            request.url = other
            return .follow(request)
        }
        #expect(changed == "http://c/")
        #expect(audit.withLock { $0 } == Array(repeating: "0 302 http://b/x", count: 4))
    }

    @Test func `an error after redirects names the last exchange`() async throws {
        let transport = AnsweringTransport(.redirect(to: "/2?token=secret"), Answer(status: 500, body: "oops-secret"))
        let error = await expectFailure(.unacceptableStatus) {
            try await NetworkClient(transport: transport).send(
                RequestData(path: "http://a/1", method: .post), as: .data)
        }
        #expect(error?.exchange?.url == "http://a/2?…")
        #expect(error?.exchange?.method == "GET")
        #expect(error?.description.contains(", after 1 redirect") == true)
        #expect(error.map { !$0.description.contains("secret") } == true)
        #expect(error?.unredactedDescription.contains("oops-secret") == true)
    }

    /// Regression: a download that started again counted the redirects of its first response too.
    @Test func `the redirects of an earlier chain do not count`() async throws {
        struct Twice: Interceptor {
            func intercept(
                _ request: TransportRequest, in call: NetworkClient.Call, next: NetworkClient.Next
            ) async throws -> TransportResponse {
                _ = try await next(request)
                return try await next(request)
            }
        }
        let transport = AnsweringTransport(
            .redirect(to: "/2"), Answer(), .redirect(to: "/2"), Answer(), .redirect(to: "/2"), Answer(), Answer())
        var client = NetworkClient(transport: transport)
        client.interceptors.append(Twice())
        for count in [1, 0] {
            let response = try await client.send(RequestData(path: "http://a/1"), as: .data)
            #expect(response.redirects.count == count)
        }
    }

    @Test func `the total timeout is the whole call's`() async throws {
        let transport = AnsweringTransport(.redirect(to: "/2"), Answer())
        var request = try TransportRequest.make(.get, "http://a/1")
        request.options.totalTimeout = .seconds(60)
        _ = try await NetworkClient(transport: transport).send(request, as: .stream)
        let times = transport.requests.compactMap(\.options.totalTimeout)
        #expect(times.count == 2)
        #expect(times[1] < times[0])
    }
}
