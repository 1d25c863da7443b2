import TestSupport
import Testing

@testable import NetworkCore

@Suite("International host names", .patience(minutes: 1))
struct InternationalNameTests {
    @Test(
        arguments: [
            ("bücher.example", "xn--bcher-kva.example"), ("BÜCHER.Example", "xn--bcher-kva.example"),
            ("bu\u{308}cher.example", "xn--bcher-kva.example"), ("日本語.jp", "xn--wgv71a119e.jp"),
            // Not 'strasse': the letter is valid, as are the joiners of scripts that need them.
            ("straße.de", "xn--strae-oqa.de"), ("faß.de", "xn--fa-hia.de"), ("क्\u{200D}ष.com", "xn--11b2ezcw70k.com"),
            ("☕.us", "xn--53h.us"), ("i❤.ws", "xn--i-7iq.ws"), ("\u{1F600}.la", "xn--e28h.la"),
            ("example。com", "example.com"), ("example．com", "example.com"), ("example｡com", "example.com"),
            ("ＥＸＡＭＰＬＥ.com", "example.com"), ("\u{AD}bücher.de", "xn--bcher-kva.de"), ("K.com", "k.com"),
            ("bücher.de.", "xn--bcher-kva.de."), ("bü_cher.de", "xn--b_cher-3ya.de"),
            ("xn--bcher-kva.bücher.de", "xn--bcher-kva.xn--bcher-kva.de"), ("ⓛocalhost", "localhost"),
            ("דוגמה.example", "xn--6dbbec0c.example"),
        ])
    func `a name is converted`(name: String, ascii: String) throws {
        let url = try RequestURL("http://\(name):81/ü?ü")
        #expect(url.absoluteString == "http://\(ascii):81/%C3%BC?%C3%BC")
        // The converted text parses to the same URL.
        #expect(try RequestURL(url.absoluteString) == url)
        #expect(url.hasSameOrigin(as: try RequestURL("http://\(ascii):81/")))
        #expect(try TransportRequest(to: "http://u:p@\(name):81/").url.host == ascii)
        #expect(try RequestURL("http://h/").resolving("//\(name)/x").host == ascii)
    }

    @Test(
        arguments: [
            ("-bücher.de", "hyphens"), ("bücher-.de", "hyphens"), ("ab--ü.de", "hyphens"),
            ("\u{301}a.de", "combining"), ("אa.com", "directions"), ("0א.com", "directions"),
            ("a\u{200D}b.com", "not allowed in its position"), ("\u{378}.de", "no name may have"),
            ("\u{2024}.com", "no name may have"),
            ("\u{E0001}a.de", "no name may have"), ("xn--ü.de", "encoding"),
            ("xn--zzzzü.de", "encoding"),
            ("\u{AD}", "empty label"), ("。", "empty label"), ("bücher..de", "empty label"),
            (".bücher.de", "empty label"),
            ("ü" + String(repeating: "x", count: 60) + ".de", "too long"),
            (Array(repeating: String(repeating: "ü", count: 20), count: 20).joined(separator: "."), "too long"),
            (String(repeating: "ü", count: 30_000), "longer than 253"),
        ])
    func `a text that is no name is refused`(name: String, reason: String) throws {
        let error = try #require(throws: NetworkError.self) { try RequestURL("http://\(name)/") }
        #expect(error.code == .invalidURL)
        #expect(error.message.contains(reason), "\(error)")
    }

    /// Characters that map to a separator, an address, or a number would change the host after it was checked.
    @Test(arguments: [
        "ex／ample.com", "a℀b.com", "ex：80.com", "ex＠evil.com", "ex＃.com", "ex？.com", "ex％2f.com", "ex＼.com",
        "ex［.com", "１２７.0.0.1", "127。0。0。1", "①②⑦.0.0.1", "１２７.1", "０x７f000001", "２１３０７０６４３３", "127.0.0.0１",
        "1.2.3.4５６", "［::1］", "ü%2e.de", "ü|.de", "ü;.de", "ü .de", "ü\u{A0}.de", "ü\\.de",
    ])
    func `a name with characters that stand for others is refused`(name: String) {
        expectFailure(.invalidURL) { try RequestURL("http://\(name)/") }
        expectFailure(.invalidURL) { try RequestURL("http://h/").resolving("//\(name)/") }
    }

    /// Any text as a host: the result is ASCII and parses to itself.
    @Test func `random names give hosts that are their own form`() throws {
        var generator = SeededGenerator(seed: 46)
        let pieces = [
            "ü", "ß", "a", "1", "１", "127", ".", "。", "．", "-", "xn--", "／", "：", "＠", "\u{AD}", "\u{200D}", "א", "☕",
            "Ⅷ", "０x", "ⓛ", "localhost", "\u{301}", "℀",
        ]
        var good = 0
        for _ in 0..<4_000 {
            let name = generator.text(of: pieces, upTo: 6)
            guard let url = try? RequestURL("http://\(name)/") else { continue }
            good += 1
            #expect(try RequestURL(url.absoluteString) == url)
            #expect(url.absoluteString.utf8.allSatisfy { (0x21...0x7E).contains($0) })
            if !name.utf8.allSatisfy({ $0 < 0x80 }) { #expect(!HostName.isAddress(url.host), "\(name)") }
        }
        #expect(good > 200)
    }

    @Test func `without the library, the error says what to write`() throws {
        let error = try #require(throws: NetworkError.self) {
            try InternationalName.ascii(Array("bücher.de".utf8)[...], by: nil)
        }
        #expect(error.code == .invalidURL)
        #expect(error.message.contains("libidn2") && error.message.contains("xn--"))
        #expect(InternationalName.library != nil)
    }

    /// Options go to libcurl unconverted, and it would read them in the encoding of the locale.
    @Test func `options are written in ASCII`() {
        expectFailure(.invalidOption) { try OptionCheck.host("bücher.example", "x") }
        expectFailure(.invalidOption) { try TransportOptions.Proxy.Server("http://bücher.example:1").check() }
        var names = TransportOptions.Names()
        names.dnsOverHTTPS = "https://bücher.example/dns-query"
        expectFailure(.invalidOption) { try names.check() }
    }

    @Test func `cookies are those of the ASCII form`() throws {
        let jar = CookieJar()
        try jar.set(CookieJar.Cookie(name: "a", value: "1", domain: "xn--bcher-kva.example"))
        #expect(jar.fieldValue(for: try RequestURL("http://bücher.example/")) == "a=1")
    }
}
