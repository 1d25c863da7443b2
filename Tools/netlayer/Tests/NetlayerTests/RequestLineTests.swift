import Foundation
import JSONText
import NetworkLayer
import Testing

@testable import netlayer

@Suite struct RequestLineTests {
    private func parse(_ text: String) throws -> RequestLine { try RequestLine(try JSONParser.parse(Array(text.utf8))) }

    private func options(_ text: String) throws -> TransportRequest {
        try parse(#"{"url":"http://a/","options":\#(text)}"#).request
    }

    @Test func `a full line becomes a request`() throws {
        let line = try parse(
            #"""
            {"id":1.50,"session":"s","url":"http://a/b?c","method":"PUT","headers":[["X-A","1"],["x-a","2"]],
            "bodyBase64":"aGk=","options":{"followRedirects":false,"decompress":false,"timeoutMs":1500,
            "auth":{"scheme":"basic","user":"ü","password":"p:q"},"cookies":"off","range":"0-4","httpVersion":"1.0",
            "maxBodyBytes":7,"keepMethodOn":[],"initialCookies":[],"uploadStreamed":false,"proxy":null}}
            """#
        )
        #expect(line.id == .number("1.50"))
        let request = line.request
        #expect(request.method == .put)
        #expect(request.url.absoluteString == "http://a/b?c")
        #expect(request.headerFields[values: try #require(.init("X-A"))] == ["1", "2"])
        #expect(request.wireFields[.authorization] == "Basic w7w6cDpx")
        #expect(request.headerFields[.range] == "bytes=0-4")
        #expect(request.headerFields[.acceptEncoding] == "identity")
        #expect(request.body?.knownBytes == Data("hi".utf8))
        #expect(request.options.totalTimeout == .milliseconds(1500))
        #expect(request.options.decompress == false)
        #expect(request.options.httpVersion == .http1_0)
        #expect(request.options.maximumBodyBytes == 7)
    }

    @Test func `user and password of a URL are no part of it`() throws {
        let request = try parse(#"{"url":"http://u:p@bücher.example/"}"#).request
        #expect(request.url.absoluteString == "http://xn--bcher-kva.example/")
        #expect(request.wireFields[.authorization] == "Basic dTpw")
    }

    @Test func `a line with a URL alone has the defaults`() throws {
        let line = try parse(#"{"url":"http://a/","method":null,"options":{}}"#)
        let request = line.request
        #expect(line.id == .null)
        #expect(request.method == .get)
        #expect(request.body == nil)
        #expect(request.options == TransportOptions())
        #expect(request.headerFields.isEmpty)
    }

    @Test(arguments: [
        (#"{"id":1}"#, "'url' is missing"),
        (#"{"url":1}"#, "'url' is a number"),
        (#"{"url":"u","id":true}"#, "'id' is a boolean"),
        (#"{"url":"u","session":[]}"#, "'session' is an array"),
        (#"{"url":"u","bodyBase64":"a"}"#, "'bodyBase64' is not base64"),
        (#"{"url":"u","headers":[["a"]]}"#, "'headers[0]'"),
        (#"{"url":"u","headers":[["a","b"],["c",1]]}"#, "'headers[1]'"),
        (#"{"url":"u","headers":{"a":"b"}}"#, "'headers' is an object"),
        (#"{"url":"u","ulr":1,"Method":2}"#, "unknown keys 'Method', 'ulr'"),
        (#"{"url":"u","options":{"timeoutMs":1.5}}"#, "'options.timeoutMs' is 1.5"),
        (#"{"url":"u","options":{"timeout":1}}"#, "unknown key 'options.timeout'"),
        (#"{"url":"u","options":{"proxy":{"uri":"x"}}}"#, "'options.proxy.url' is missing"),
        (#"{"url":"u","options":{"proxy":{}}}"#, "'options.proxy.url' is missing"),
        (#"{"url":"u","options":{"proxy":{"url":"x","noProxy":[1]}}}"#, "'options.proxy.noProxy'"),
        (#"{"url":"u","options":{"proxy":{"url":"x","scheme":"ntlm"}}}"#, "'options.proxy.scheme' is 'ntlm'"),
        (#"{"url":"u","options":{"proxy":{"url":"x","headers":[["a"]]}}}"#, "'options.proxy.headers[0]'"),
        (#"{"url":"u","options":{"proxy":{"url":"x","caFile":"a","caDirectory":"b"}}}"#, "exclude one another"),
        (#"{"url":"u","options":{"trustRedirects":1}}"#, "'options.trustRedirects' is a number"),
        (#"{"url":"u","options":{"allowDowngrade":"yes"}}"#, "'options.allowDowngrade' is a string"),
        (#"{"url":"u","options":{"auth":{"user":"x"}}}"#, "'options.auth.scheme' is missing"),
        (#"{"url":"u","options":{"auth":{"scheme":"ntlm"}}}"#, "'options.auth.scheme' is 'ntlm'"),
        (#"{"url":"u","options":{"cookies":"on"}}"#, "'options.cookies' is 'on'"),
        (#"{"url":"u","options":{"httpVersion":"4"}}"#, "'options.httpVersion' is '4'"),
        (#"{"url":"u","options":{"httpVersion":"automatic"}}"#, "'options.httpVersion' is 'automatic'"),
        (#"{"url":"u","options":{"keepMethodOn":["x"]}}"#, "'options.keepMethodOn'"),
        (#"{"url":"u","options":{"maxRedirects":-1}}"#, "'options.maxRedirects' is -1"),
        (#"{"url":"u","options":{"initialCookies":[1]}}"#, "'options.initialCookies[0]' is a number"),
        (#"{"url":"u","options":{"initialCookies":[{"name":"a"}]}}"#, "'options.initialCookies[0].domain' is missing"),
        (#"{"url":"u","options":{"initialCookies":[{"domain":"a"}]}}"#, "'options.initialCookies[0].name' is missing"),
        (
            #"{"url":"u","options":{"initialCookies":[{"domain":"a","name":"b","vale":"c"}]}}"#,
            "unknown key 'options.initialCookies[0].vale'"
        ),
        (
            #"{"url":"u","options":{"cookies":"off","initialCookies":[{"domain":"a","name":"b"}]}}"#,
            "no meaning with 'cookies' off"
        ),
        (#"[]"#, "this is an array"),
    ])
    func `a bad line is refused by name`(_ text: String, _ words: String) {
        let problem = #expect(throws: LineProblem.self) { try parse(text) }
        #expect(problem?.message.contains(words) == true, "\(problem?.message ?? "")")
    }

    @Test func `the id of a bad line is read all the same`() throws {
        #expect(RequestLine.id(of: try JSONParser.parse(Array(#"{"url":1,"id":"x"}"#.utf8))) == .string("x"))
        #expect(RequestLine.id(of: try JSONParser.parse(Array(#"{"id":{}}"#.utf8))) == .null)
    }

    @Test func `a streamed upload is a body of unknown length`() throws {
        func body(_ options: String) throws -> TransportRequest.Body? {
            try parse(#"{"url":"http://a/","method":"POST","bodyBase64":"aGk=","options":\#(options)}"#).request.body
        }
        let streamed = try #require(try body(#"{"uploadStreamed":true}"#))
        #expect(streamed.length == nil && streamed.isReplayable)
        #expect(try body(#"{"uploadStreamed":false}"#)?.length == 2)
    }

    @Test func `redirects and cookies become a pipeline`() throws {
        let transport = URLSessionNetworkDispatcher.shared
        func client(_ text: String) throws -> NetworkClient {
            try parse(#"{"url":"http://a/","options":\#(text)}"#).client(over: transport) { CookieJar() }
        }
        #expect(try client("{}").cookieJar == nil)
        #expect(try client(#"{"cookies":"memory"}"#).cookieJar?.cookies.isEmpty == true)
        let following = try client(#"{"followRedirects":true,"maxRedirects":3,"keepMethodOn":[301,302]}"#)
            .redirectPolicy
        #expect(following.maximumRedirects == 3)
        #expect(following.keepsMethodOn == [301, 302])
        #expect(!following.allowsDowngrade)
        let trusting = try client(
            #"{"followRedirects":true,"maxRedirects":3,"keepMethodOn":[303],"trustRedirects":true,"allowDowngrade":true}"#
        ).redirectPolicy
        #expect(trusting.maximumRedirects == 3 && trusting.keepsMethodOn == [303] && trusting.allowsDowngrade)
        #expect(try client(#"{"followRedirects":true}"#).redirectPolicy.maximumRedirects == 20)
        let cookies = try client(
            #"""
            {"initialCookies":[{"domain":".Example.com","name":"a","value":"b","path":"/x","secure":true,"httpOnly":true,
            "expires":4102444800},{"domain":"example.com","includeSubdomains":false,"name":"c"}]}
            """#
        ).cookieJar?.cookies
        #expect(
            cookies == [
                CookieJar.Cookie(
                    name: "a", value: "b", domain: "example.com", includesSubdomains: true, path: "/x", isSecure: true,
                    isHTTPOnly: true, expires: Date(timeIntervalSince1970: 4_102_444_800)),
                CookieJar.Cookie(name: "c", value: "", domain: "example.com"),
            ])
        let error = #expect(throws: NetworkError.self) {
            try client(#"{"initialCookies":[{"domain":"com","includeSubdomains":true,"name":"a","value":"secret"}]}"#)
        }
        #expect(error?.code == .invalidOption)
        #expect(error.map { !"\($0)".contains("secret") } == true)
    }

    @Test func `a session shares its cookies with no other`() {
        let jars = SessionJars()
        #expect(jars.jar(for: .string("1")) === jars.jar(for: .string("1")))
        #expect(jars.jar(for: .string("1")) !== jars.jar(for: .number("1")))
        #expect(jars.jar(for: nil) !== jars.jar(for: nil))
        // Equal for Swift, and not the same bytes.
        for (left, right) in [("\u{E9}", "e\u{301}"), ("K", "\u{212A}"), ("\u{AC00}", "\u{1100}\u{1161}")] {
            #expect(left == right)
            #expect(jars.jar(for: .string(left)) !== jars.jar(for: .string(right)))
        }
    }

    @Test func `unlimited sessions keep the cookies of the last ones`() {
        let jars = SessionJars()
        let first = jars.jar(for: .string("first"))
        var most = 0
        for number in 0..<3 * SessionJars.maximumSessions {
            _ = jars.jar(for: .number("\(number)"))
            if number % 1_000 == 0 {
                #expect(jars.jar(for: .string("first")) === first, "a jar in use was discarded")
                most = max(most, jars.count)
            }
        }
        #expect(most <= SessionJars.maximumSessions && jars.count > SessionJars.maximumSessions / 2)
    }

    @Test(arguments: [
        #"{"auth":{"scheme":"basic","user":"a:b"}}"#,
        #"{"auth":{"scheme":"basic","user":"a","password":"s\u0000cret"}}"#,
        #"{"auth":{"scheme":"bearer","password":"s cret"}}"#, #"{"auth":{"scheme":"bearer"}}"#,
    ])
    func `credentials that can't be sent are refused without their text`(_ text: String) {
        let error = #expect(throws: NetworkError.self) { try options(text) }
        #expect(error?.code == .invalidOption)
        #expect(error.map { !"\($0)".contains("cret") } == true)
    }

    @Test func `a bearer takes the token from the password`() throws {
        #expect(
            try options(#"{"auth":{"scheme":"bearer","password":"abc"}}"#).wireFields[.authorization] == "Bearer abc"
        )
    }

    @Test func `Digest and any are the library's`() throws {
        #expect(
            try options(#"{"auth":{"scheme":"digest","user":"a","password":"b"}}"#).options.authentication
                == .digest(user: "a", password: "b")
        )
        #expect(
            try options(#"{"auth":{"scheme":"any","user":"a","password":"b"}}"#).options.authentication
                == .anySafe(user: "a", password: "b")
        )
    }

    @Test func `a proxy is the library's, and an empty one is none`() throws {
        var proxy = TransportOptions.Proxy.Server("socks5h://127.0.0.1:1080", user: "u", password: "p")
        proxy.noProxy = ["a.test", "10.0.0.1"]
        let text = #"{"proxy":{"url":"socks5h://127.0.0.1:1080","user":"u","password":"p","noProxy":"#
        #expect(try options(text + #""a.test, 10.0.0.1"}}"#).options.proxy == .explicit(proxy))
        #expect(try options(text + #"["a.test","10.0.0.1"]}}"#).options.proxy == .explicit(proxy))
        #expect(try options(#"{"proxy":{"url":""}}"#).options.proxy == .none)
        var whole = TransportOptions.Proxy.Server("https://127.0.0.1:8443", user: "u", password: "p")
        whole.authorities = .file("/ca.pem")
        whole.headerFields.append(HTTPField(name: .userAgent, value: "b"))
        whole.tunnel = true
        for (name, scheme) in [
            ("basic", TransportOptions.Proxy.Server.AuthenticationScheme.basic), ("digest", .digest), ("any", .anySafe),
        ] {
            whole.authenticationScheme = scheme
            let line = #"""
                {"proxy":{"url":"https://127.0.0.1:8443","user":"u","password":"p","scheme":"\#(name)",
                "headers":[["User-Agent","b"]],"tunnel":true,"caFile":"/ca.pem"}}
                """#
            #expect(try options(line).options.proxy == .explicit(whole))
        }
        whole = TransportOptions.Proxy.Server("https://127.0.0.1:8443")
        whole.authorities = .directory("/certs")
        let folder = #"{"proxy":{"url":"https://127.0.0.1:8443","caDirectory":"/certs"}}"#
        #expect(try options(folder).options.proxy == .explicit(whole))
        let error = #expect(throws: NetworkError.self) { try options(#"{"proxy":{"url":"ftp://a"}}"#) }
        #expect(error?.code == .invalidOption)
    }

    @Test func `an option and its header field exclude one another`() throws {
        let line = #"{"url":"http://a/","headers":[["range","bytes=0-1"]],"options":{"range":"0-1"}}"#
        let error = #expect(throws: NetworkError.self) { try parse(line) }
        #expect(error?.code == .invalidOption)
    }

    @Test(arguments: ["0-499", "500-", "-500", "0-0,10-20", "bytes=1-2"])
    func `a range is sent in bytes`(_ text: String) throws {
        #expect(
            try options(#"{"range":"\#(text)"}"#).headerFields[.range] == "bytes=" + text.replacing("bytes=", with: ""))
    }

    @Test(arguments: ["", "-", "5", "5-4", "a-b", "1-2,", "1-2-3", "+1-2", "0-99999999999999999999", "0-1\r\nX: y"])
    func `a range that makes no sense is refused`(_ text: String) throws {
        var request = TransportRequest(url: try RequestURL("http://a/"))
        #expect(throws: NetworkError.self) { try request.ask(forPart: text) }
    }
}
