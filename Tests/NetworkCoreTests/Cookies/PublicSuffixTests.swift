import TestSupport
import Testing

@testable import NetworkCore

struct PublicSuffixTests {
    private let list = CookieJar.PublicSuffixList(
        """
        // comment
        com
        jp
        kobe.jp
        *.kobe.jp
        !city.kobe.jp
        *.ck
        !www.ck
        公司.cn
        straße.test  trailing words
        """
    )

    @Test(arguments: [
        "com", "jp", "kobe.jp", "x.kobe.jp", "x.ck", "unlisted", "xn--55qx5d.cn", "xn--strae-oqa.test", "localhost",
        "com.",
    ])
    func `a suffix belongs to no site`(name: String) { #expect(list.isPublicSuffix(name)) }

    @Test(arguments: [
        "a.com", "city.kobe.jp", "a.x.kobe.jp", "www.ck", "b.x.ck", "a.unlisted", "a.xn--55qx5d.cn", "example.com.",
    ])
    func `a name belongs to a site`(name: String) { #expect(!list.isPublicSuffix(name)) }

    @Test(arguments: [
        ("a.b.example.com", "example.com"), ("com", "com"), ("x.city.kobe.jp", "city.kobe.jp"),
        ("a.b.c.kobe.jp", "b.c.kobe.jp"), ("127.0.0.1", "127.0.0.1"), ("[::1]", "[::1]"), ("localhost", "localhost"),
    ])
    func `a site is one label more`(host: String, site: String) { #expect(list.site(of: host) == site) }

    @Test func `a name of many labels takes linear time`() {
        let name = String(repeating: "a.", count: 400_000) + "x.kobe.jp"
        let start = ContinuousClock.now
        #expect(!list.isPublicSuffix(name))
        #expect(list.site(of: name) == "a.x.kobe.jp")
        // Seen: half a second in a debug build; a name for each label would be 160 GB.
        #expect(ContinuousClock.now - start < .seconds(20))
    }

    @Test func `every list knows the best known suffixes`() {
        for list in [CookieJar.PublicSuffixList.system, .builtIn] {
            for name in ["com", "co.uk", "com.au", "github.io", "herokuapp.com"] {
                #expect(list.isPublicSuffix(name), "\(name)")
            }
            #expect(!list.isPublicSuffix("example.co.uk"))
        }
    }

    @Test func `random lists never trap`() {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<2000 {
            let pieces = ["*", "!", ".", "a", "é", "\n", " ", "//", "中", "\u{10FFFF}", "\u{301}"]
            let list = CookieJar.PublicSuffixList(generator.text(of: pieces, upTo: 20))
            _ = list.isPublicSuffix(generator.text(of: ["a", ".", "b"], upTo: 8))
        }
    }
}
