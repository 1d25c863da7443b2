import Foundation

@testable import NetworkCore

/// What a server can write into a jar: `Set-Cookie` lines, dates, and what a jar's file looks like.
func fuzzCookies(_ text: String) {
    guard let url = try? RequestURL("https://www.example.com/a/b") else { return }
    let jar = CookieJar(publicSuffixes: .builtIn)
    let parser = SetCookieParser(url: url, now: Date(), suffixes: .builtIn)
    for line in text.split(separator: "\n") {
        _ = CookieDate.parse(String(line))
        _ = HTTPDate.parse(String(line), now: Date())
        guard let cookie = parser.parse(String(line)) else { continue }
        precondition(CookieMatching.domain(url.host, matches: cookie.domain), "a cookie of another's")
        precondition(!cookie.name.isEmpty && cookie.path.utf8.first == UInt8(ascii: "/"), "no cookie")
        jar.keep(cookie)
    }
    precondition(jar.cookies.count <= CookieStore.maximumPerSite, "too many")
    precondition((jar.fieldValue(for: url)?.utf8.count ?? 0) <= CookieJar.maximumFieldBytes, "too long")
    let copy = CookieJar(publicSuffixes: .builtIn)
    precondition((try? copy.add(netscape: jar.netscape)) != nil, "a file that can't be read back")
    _ = try? copy.add(netscape: text)
    _ = CookieJar.PublicSuffixList(text).isPublicSuffix("a.b.c")
}

/// A reference leads to a URL that means the same when it is read again, or nowhere.
func fuzzReference(_ text: String) {
    guard let base = try? RequestURL("https://a.example:8443/b/c?d"), let url = try? base.resolving(text) else {
        return
    }
    precondition((try? RequestURL(url.absoluteString)) == url, "not the same when read again")
}
