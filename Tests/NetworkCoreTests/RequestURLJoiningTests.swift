import NetworkCore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct RequestURLJoiningTests {
    @Test(
        arguments: [
            ("http://h/v1", "users", "http://h/v1/users"),
            ("http://h/v1/", "users", "http://h/v1/users"),
            ("http://h/v1", "/users", "http://h/v1/users"),
            ("http://h/v1/", "/users", "http://h/v1/users"),
            ("http://h", "users/", "http://h/users/"),
            ("http://h", "/", "http://h/"),
            ("http://h/v1", "", "http://h/v1"),
            ("http://h/v1/", "", "http://h/v1/"),
            ("http://h", "", "http://h/"),
            ("http://h/v1?key=1", "users", "http://h/v1/users?key=1"),
            ("http://h/v1?key=1", "users?page=2", "http://h/v1/users?key=1&page=2"),
            ("http://h/v1", "users?page=2?x", "http://h/v1/users?page=2?x"),
            ("http://h/v1", "?page=2", "http://h/v1?page=2"),
            ("http://h/v1?", "users?", "http://h/v1/users"),
            ("http://h/v1#a", "users#b?c", "http://h/v1/users"),
            ("http://h/v1?k=a/b", "users?p=a/../../b", "http://h/v1/users?k=a/b&p=a/../../b"),
            ("http://h/v1", "a/../b", "http://h/v1/b"),
            ("http://h/v1", "a/..", "http://h/v1/"),
            ("http://h/v1", "./a", "http://h/v1/a"),
            ("http://h/v1", "..a/b..", "http://h/v1/..a/b.."),
            ("http://h/v1", "//other/x", "http://h/v1//other/x"),
            ("http://h", "//other/x", "http://h//other/x"),
            ("http://h", "@other/x", "http://h/@other/x"),
            ("http://h", ":80/x", "http://h/:80/x"),
            ("http://h/v1?k\u{301}", "/\u{301}?\u{301}#\u{301}", "http://h/v1/%CC%81?k%CC%81&%CC%81"),
            ("http://h/v1", "a:b", "http://h/v1/a:b"),
            ("http://h/v1", "né x/%2F", "http://h/v1/n%C3%A9%20x/%2F"),
            ("http://h/v1", "redirect?to=http://x/", "http://h/v1/redirect?to=http://x/"),
        ]
    )
    func path_isAppendedToItsBase(base: String, path: String, url: String) throws {
        #expect(try RequestURL(base: base, path: path).absoluteString == url)
        #expect(try RequestData(path: path, baseURL: base).transportRequest().url.absoluteString == url)
    }

    @Test(
        arguments: [
            ("http://h/v1", "../admin", "'..'"),
            ("http://h/v1", "a/../../admin", "'..'"),
            ("http://h/v1", "/..", "'..'"),
            ("http://h/v1", "%2e%2e/admin", "'..'"),
            ("http://h/v1", "a/%2E./.%2e/x", "'..'"),
            ("http://h/v1", "./../x", "'..'"),
            ("http://h/v1", "a%2F..%2f../x", "'..'"),
            ("http://h/v1", "a%2Fb/../..", "'..'"),
            ("http://h/v1", "http://other/x", "whole URL"),
            ("http://h/v1", "HTTPS://other/x", "whole URL"),
            ("http://h/v1", "a\\..\\b", "'\\'"),
            ("http://h/v1", "a\r\nb", "control character"),
            ("h/v1", "users", "no scheme"),
            ("", "users", "no scheme"),
            ("file:///etc", "passwd", "'file'"),
            ("http://user:pw@h/", "x", "user and password"),
        ]
    )
    func badJoin_isRefused(base: String, path: String, reason: String) throws {
        let error = try #require(throws: NetworkError.self) { try RequestURL(base: base, path: path) }
        #expect(error.code == .invalidURL)
        #expect(error.message.contains(reason), "\(error)")
    }

    @Test func anyPath_staysBelowItsBase() throws {
        var generator = SeededGenerator(seed: 4)
        let pieces = [
            "..", ".", "%2e", "%2F", "\u{301}", "/", "//", "a", "?", "#", "@", ":", "http://x", "\\", "%", "é", "&",
            " ",
        ]
        var joined = 0
        for _ in 0..<5_000 {
            let path = generator.text(of: pieces, upTo: 8)
            guard let url = try? RequestURL(base: "http://h:81/v1/x?k=1", path: path) else { continue }
            joined += 1
            #expect(url.authority == "h:81")
            #expect(url.path == "/v1/x" || url.path.hasPrefix("/v1/x/"), "\(path)")
            #expect(url.query?.hasPrefix("k=1") == true)
        }
        #expect(joined > 500)
    }
}
