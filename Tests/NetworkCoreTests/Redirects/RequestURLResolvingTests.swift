import NetworkCore
import TestSupport
import Testing

struct RequestURLResolvingTests {
    /// The examples of RFC 3986 §5.4.1 and §5.4.2, without fragments, which are never sent.
    @Test(arguments: [
        ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
        ("//g", "http://g/"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q"),
        ("g#s", "http://a/b/c/g"), ("g?y#s", "http://a/b/c/g?y"), (";x", "http://a/b/c/;x"),
        ("g;x", "http://a/b/c/g;x"),
        ("g;x?y#s", "http://a/b/c/g;x?y"), ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"),
        ("..", "http://a/b/"), ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"),
        ("../../", "http://a/"), ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"),
        ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
        ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/./x", "http://a/b/c/g"),
    ])
    func `a reference is resolved as the RFC says`(reference: String, expected: String) throws {
        #expect(try RequestURL("http://a/b/c/d;p?q").resolving(reference).absoluteString == expected)
    }

    @Test(arguments: [
        ("https://B:8443/x", "https://b:8443/x"), ("HTTP://b", "http://b/"), ("a b", "http://a:81/p/a%20b"),
        ("ü", "http://a:81/p/%C3%BC"), ("1a:b", "http://a:81/p/1a:b"), ("%2F", "http://a:81/p/%2F"),
        ("?", "http://a:81/p/q?"), ("/", "http://a:81/"), ("//b:/x", "http://b/x"), ("::", "http://a:81/p/::"),
        ("//[::1]/x", "http://[::1]/x"),
    ])
    func `another reference leads where browsers go`(reference: String, expected: String) throws {
        #expect(try RequestURL("http://a:81/p/q").resolving(reference).absoluteString == expected)
    }

    @Test(arguments: [
        "g:h", "http:g", "http:", "ftp://a/", "javascript:alert(1)", "http://user:secret@h/", "//user@h/", "///x",
        "http:///x", "\\\\evil\\x", "/\\evil", "http://[", "//a b/", "//a%20b/", "/\u{1}", "/a\u{0}b", "/%zz", "/%",
        "//1.2/", "//0x7f.1/", "//\u{301}x/", "/" + String(repeating: "a", count: 70_000),
    ])
    func `a hostile reference is refused`(reference: String) throws {
        let base = try RequestURL("http://a/b")
        let error = #expect(throws: NetworkError.self) { try base.resolving(reference) }
        #expect(error?.code == .invalidURL)
        #expect(error.map { !"\($0)".contains("secret") } == true)
    }

    @Test func `random references give URLs that are their own parse`() throws {
        var generator = SeededGenerator(seed: 3986)
        let base = try RequestURL("https://a.example:8443/b/c?d")
        let pieces = [
            "/", "//", "..", ".", "?", "#", ":", "@", "[", "]", "%", "%41", "a", "B", "1", "\\", "é", "\u{301}", "http",
            "https:",
            " ", "\u{7F}", "-", ";", "=", "&", "::1", "x.example",
        ]
        var good = 0
        for _ in 0..<5000 {
            guard let url = try? base.resolving(generator.text(of: pieces, upTo: 9)) else { continue }
            good += 1
            #expect(try RequestURL(url.absoluteString) == url)
            #expect(url.scheme == "http" || url.scheme == "https")
            #expect(url.absoluteString.utf8.allSatisfy { (0x21...0x7E).contains($0) })
        }
        #expect(good > 250)
    }

    @Test func `many dot segments are resolved in linear time`() throws {
        let reference = String(repeating: "a/", count: 16_000) + String(repeating: "../", count: 10_000)
        let url = try RequestURL("http://a/").resolving(reference)
        #expect(url.path == "/" + String(repeating: "a/", count: 6000))
    }

    @Test func `the same origin is scheme, host and port`() throws {
        let url = try RequestURL("https://a/x")
        #expect(url.hasSameOrigin(as: try RequestURL("https://A:443/y?z")))
        for other in ["http://a/", "https://b/", "https://a:444/", "https://a./", "https://x.a/"] {
            #expect(!url.hasSameOrigin(as: try RequestURL(other)))
        }
    }
}
