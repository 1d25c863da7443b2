import Foundation

@testable import NetworkCore

/// Tests everything that a server can write into a cookie jar: `Set-Cookie` fields, dates, and the jar's file format.
func fuzzCookies(_ text: String) {
    guard let url = try? RequestURL("https://www.example.com/a/b") else { return }
    let jar = CookieJar(publicSuffixes: .builtIn)
    let parser = SetCookieParser(url: url, now: Date(), suffixes: .builtIn)
    for line in text.split(separator: "\n") {
        _ = FieldDate.parse(String(line))
        guard let cookie = parser.parse(String(line)) else { continue }
        precondition(CookieMatching.domain(url.host, matches: cookie.domain), "a cookie of another domain")
        precondition(!cookie.name.isEmpty && cookie.path.utf8.first == UInt8(ascii: "/"), "not a cookie")
        jar.keep([cookie])
    }
    precondition(jar.cookies.count <= CookieStore.maximumPerSite, "too many")
    precondition((jar.fieldValue(for: url)?.utf8.count ?? 0) <= CookieJar.maximumFieldBytes, "too long")
    let copy = CookieJar(publicSuffixes: .builtIn)
    precondition((try? copy.add(netscape: jar.netscape)) != nil, "the file can't be read back")
    _ = try? copy.add(netscape: text)
    _ = CookieJar.PublicSuffixList(text).isPublicSuffix("a.b.c")
}

/// Tests that a reference resolves to a URL that stays the same when it is parsed again, or is refused.
func fuzzReference(_ text: String) {
    guard let base = try? RequestURL("https://a.example:8443/b/c?d"), let url = try? base.resolving(text) else {
        return
    }
    precondition((try? RequestURL(url.absoluteString)) == url, "not the same when parsed again")
}
