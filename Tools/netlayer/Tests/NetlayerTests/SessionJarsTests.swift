import Foundation
import JSONText
import NetworkLayer
import NetworkTesting
import Testing

@testable import netlayer

/// The limit on the bytes of the cookies of all sessions.
@Suite struct SessionJarsTests {
    private func session(_ number: Int) -> JSONValue { .number("\(number)") }

    private func cookie(_ count: Int) -> CookieJar.Cookie {
        CookieJar.Cookie(name: "a", value: String(repeating: "x", count: count), domain: "a.example.com")
    }

    /// Regression: sessions were limited by their number alone, and each may have megabytes of cookies.
    @Test func `sessions with large cookies keep those of the last ones`() throws {
        let jars = SessionJars(maximumBytes: 100_000)
        let first = jars.jar(for: session(0))
        for number in 1...100 {
            let jar = jars.jar(for: session(number))
            try jar.set(cookie(4_000))
            jars.note(jar, of: session(number))
            #expect(jars.bytes <= 100_000)
            #expect(jars.jar(for: session(number)) === jar, "the jar used last was discarded")
            #expect(jars.jar(for: session(0)) === first, "a jar in use was discarded")
        }
        #expect(jars.count > 10 && jars.count < 30)
        #expect(jars.jar(for: session(1)).cookies.isEmpty)
    }

    @Test func `one session stays, whatever its size`() throws {
        let jars = SessionJars(maximumBytes: 1_000)
        let (first, second) = (jars.jar(for: session(1)), jars.jar(for: session(2)))
        try second.set(cookie(4_000))
        jars.note(second, of: session(2))
        #expect(jars.count == 1 && jars.jar(for: session(2)) === second)
        // A jar that has gone counts for nothing.
        try first.set(cookie(4_000))
        let bytes = jars.bytes
        jars.note(first, of: session(1))
        #expect(jars.bytes == bytes)
    }

    @Test func `a jar counts with its last size`() throws {
        let jars = SessionJars()
        let (one, other) = (jars.jar(for: session(1)), jars.jar(for: session(2)))
        try one.set(cookie(100))
        try other.set(cookie(100))
        jars.note(one, of: session(1))
        let size = jars.bytes
        jars.note(one, of: session(1))
        jars.note(other, of: session(2))
        #expect(size > 100 && jars.bytes == 2 * size)
        try one.set(cookie(50))
        jars.note(one, of: session(1))
        #expect(jars.bytes == 2 * size - 50)
        one.removeAll()
        jars.note(one, of: session(1))
        #expect(jars.bytes == size)
    }

    @Test(arguments: [StubResponse.text("x", headerFields: [.setCookie: "a=b"]), .failure(NetworkError.connectTimeout)])
    func `the cookies of a line count, whether its call fails or not`(response: StubResponse) async {
        let jars = SessionJars()
        let text = #"""
            {"url":"http://a.example.com/","session":"s",
            "options":{"initialCookies":[{"domain":"b.example.com","name":"c"}]}}
            """#
        _ = await Replay(over: StubTransport(always: response), sessions: jars).outcome(of: text)
        let jar = jars.jar(for: .string("s"))
        let bytes = jars.bytes
        #expect(bytes > 0)
        jars.note(jar, of: .string("s"))
        #expect(jars.bytes == bytes, "the jar has other cookies than were counted")
    }
}
