import Foundation
import TestSupport
import Testing

@testable import NetworkCore

struct CookieFileTests {
    private let jar = CookieJar(publicSuffixes: .builtIn)
    /// A time to come, in seconds since 1970.
    private static let end = Int(Date().timeIntervalSince1970) + 86_400
    /// A file as written by curl 7.88.
    private let text = """
        # Netscape HTTP Cookie File
        # https://curl.se/docs/http-cookies.html

        .example.com\tTRUE\t/\tFALSE\t0\tlang\ten-US
        #HttpOnly_www.example.com\tFALSE\t/a\tTRUE\t\(Self.end)\tSID\t31d4d96e
        www.example.com\tFALSE\t/\tFALSE\t1\told\tx
        com\tTRUE\t/\tFALSE\t0\twide\tx
        www.example.com\tFALSE\t/\tFALSE\t0\tempty\t
        www.example.com\tFALSE\t/\tFALSE\t0\tshort

        """

    @Test func `a file is read as curl writes it`() throws {
        try jar.add(netscape: text)
        #expect(jar.cookies.map(\.name) == ["lang", "SID", "empty", "short"])
        let sid = try #require(jar.cookies.first { $0.name == "SID" })
        #expect(
            sid
                == CookieJar.Cookie(
                    name: "SID", value: "31d4d96e", domain: "www.example.com", path: "/a", isSecure: true,
                    isHTTPOnly: true,
                    expires: Date(timeIntervalSince1970: Double(Self.end))))
        #expect(jar.cookies.first?.includesSubdomains == true)
        #expect(
            jar.fieldValue(for: try RequestURL("https://www.example.com/a"))
                == "SID=31d4d96e; lang=en-US; empty=; short=")
    }

    /// Regression: an expiry date that is no number trapped when the jar was written.
    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func `an end that is no moment is refused`(seconds: Double) throws {
        let expires = Date(timeIntervalSince1970: seconds)
        expectFailure(.invalidOption) {
            try jar.set(CookieJar.Cookie(name: "n", value: "v", domain: "a.test", expires: expires))
        }
        try jar.set(
            CookieJar.Cookie(name: "n", value: "v", domain: "a.test", expires: Date(timeIntervalSince1970: 1e300)))
        #expect(jar.netscape.contains("\t1000000000000000\tn\tv"))
    }

    /// Regression: the whole file was refused for the fraction of a second that exporters of browsers write. curl and
    /// Python read it.
    @Test(arguments: [
        ("1700000010.75", 10.75), ("1700000010", 10), (" 1700000010 ", 10), ("1.70000001e9", 10), ("", nil), ("0", nil),
        ("0.0", nil), ("1735689600000", 34_560_000), ("9223372036854775808", 34_560_000), ("1e300", 34_560_000),
    ])
    func `an expiry date is any number of seconds`(text: String, seconds: Double?) throws {
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        let jar = CookieJar(publicSuffixes: .builtIn, now: { now })
        try jar.add(netscape: "a.test\tFALSE\t/\tFALSE\t\(text)\tn\tv")
        #expect(jar.cookies.map(\.expires) == [seconds.map { now + $0 }])
        // Those of the past are left out.
        try jar.add(netscape: "a.test\tFALSE\t/\tFALSE\t-1\told\tv\na.test\tFALSE\t/\tFALSE\t9.5\tolder\tv")
        #expect(jar.cookies.count == 1)
    }

    /// Regression: a file's cookie lived for as long as its line said.
    @Test func `a file's cookie lasts 400 days at most`() throws {
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        let jar = CookieJar(publicSuffixes: .builtIn, now: { now })
        try jar.add(netscape: "a.test\tFALSE\t/\tFALSE\t4102444800\tn\tv")
        let latest = now + 400 * 86_400
        #expect(jar.cookies.map(\.expires) == [latest])
        #expect(jar.netscape.contains("\t1734560000\tn\tv"))
        // One that the caller sets lasts as long as it says.
        let end = latest + 1
        try jar.set(CookieJar.Cookie(name: "own", value: "v", domain: "a.test", expires: end))
        #expect(jar.cookies.last?.expires == end)
    }

    @Test func `Windows line ends are line ends`() throws {
        try jar.add(netscape: "a.test\tFALSE\t/\tFALSE\t0\tn\tv\r\n")
        #expect(jar.cookies.map(\.value) == ["v"])
    }

    /// Regression: the file of a jar with long paths was too large to be loaded.
    @Test func `a full jar's file can be loaded again`() throws {
        let folder = "/" + String(repeating: "p", count: SetCookieParser.maximumPathBytes - 1)
        let value = String(repeating: "v", count: SetCookieParser.maximumPairBytes - 4)
        let host = Array(repeating: String(repeating: "h", count: 60), count: 3).joined(separator: ".")
        let cookies = (1000..<(1000 + CookieStore.maximumInAll)).map { number in
            CookieJar.Cookie(name: "\(number)", value: value, domain: "\(number).\(host).n\(number)", path: folder)
        }
        jar.keep(cookies)
        #expect(jar.cookies.count == CookieStore.maximumInAll)
        try withFolder { folder in
            try jar.save(to: folder + "/jar")
            let bytes = try FileManager.default.attributesOfItem(atPath: folder + "/jar")[.size] as? Int
            #expect(try #require(bytes) > 24_000_000)
            #expect(try CookieJar(file: folder + "/jar", publicSuffixes: .builtIn).cookies == jar.cookies)
        }
        jar.removeAll()
        jar.take([.setCookie: "a=1"], from: try RequestURL("http://h.test/p\(folder)/file"))
        #expect(jar.cookies.isEmpty)
    }

    @Test func `a jar comes back from its file`() throws {
        try jar.add(netscape: text)
        let path = FileManager.default.temporaryDirectory.appending(path: "cookies-\(UUID()).txt").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try jar.save(to: path)
        try jar.save(to: path)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let other = CookieJar(publicSuffixes: .builtIn)
        try other.load(path)
        #expect(other.cookies == jar.cookies)
        #expect(other.netscape == jar.netscape)
    }

    /// A program's first run finds no file; all later runs find one.
    @Test func `a jar of a file is empty until there is one`() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "cookies-\(UUID()).txt").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let first = try CookieJar(file: path, publicSuffixes: .builtIn)
        #expect(first.cookies.isEmpty)
        try first.add(netscape: text)
        try first.save(to: path)
        #expect(try CookieJar(file: path, publicSuffixes: .builtIn).netscape == first.netscape)
        expectFailure(.unreadableFile) { try CookieJar(file: path + "/x").cookies }
        expectFailure(.unreadableFile) { try CookieJar(file: FileManager.default.temporaryDirectory.path).cookies }
        try Data("nonsense".utf8).write(to: URL(filePath: path))
        expectFailure(.invalidCookieFile) { try CookieJar(file: path).cookies }
    }

    @Test(arguments: [
        ("a.test\tFALSE\t/", "line 1"), ("# x\n\nnonsense", "line 3"), ("a.test\tYES\t/\tFALSE\t0\tn\tv", "line 1"),
        ("a.test\tTRUE\t/\tFALSE\tsoon\tn\tv", "column 5"), ("a.test\tTRUE\t/\tFALSE\tnan\tn\tv", "column 5"),
        ("a.test\tTRUE\t/\tFALSE\t-inf\tn\tv", "column 5"), ("a.test\tTRUE\t/\tFALSE\t1,5\tn\tv", "column 5"),
    ])
    func `a bad line is refused by number, and nothing is taken`(text: String, words: String) {
        let good = "\nb.test\tFALSE\t/\tFALSE\t0\tn\tsecret"
        let error = #expect(throws: NetworkError.self) { try jar.add(netscape: text + good) }
        #expect(error?.code == .invalidCookieFile)
        #expect(error?.message.contains(words) == true)
        #expect(jar.cookies.isEmpty)
    }

    @Test func `a missing file is unreadable, and a folder unwritable`() {
        let error = #expect(throws: NetworkError.self) { try jar.load("/nonexistent/cookies.txt") }
        #expect(error?.code == .unreadableFile)
        let other = #expect(throws: NetworkError.self) { try jar.save(to: "/nonexistent/cookies.txt") }
        #expect(other?.code == .unwritableFile)
    }
}
