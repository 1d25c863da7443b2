import NetworkCore
import TestSupport
import Testing

@testable import CurlTransport

@Suite("What is known about HTTP/3")
struct HTTP3MemoryTests {
    private static let day = Duration.seconds(86_400)

    @Test(
        arguments: [
            (["h3=\":443\""], day), (["h3=\":443\"; ma=60"], .seconds(60)), (["h3=:443;ma=60"], .seconds(60)),
            (["h2=\":443\", h3=\":443\"; ma=\"60\"; persist=1"], .seconds(60)), (["h2=\":443\"", "h3=\":443\""], day),
            (["h3-29=\":443\"; ma=5, h3=\":443\"; ma=6, h3=\":443\"; ma=7"], .seconds(6)),
            (["h3=\"a.test:443\""], day), (["h3=\"A.test:443\""], day), (["h3=\":8443\", h3=\":443\""], day),
            (["h3=\":443\"; ma=99999999"], day * 7),
            // Elsewhere, other protocols, and the end of an announcement.
            (["h3=\":444\""], nil), (["h3=\"b.test:443\""], nil), (["h3-29=\":443\""], nil), (["h2=\":443\""], nil),
            (["clear"], nil), ([""], nil), (["h3=\":443\"; ma=0"], nil), (["h3=\":443\"; ma=-1"], nil),
            (["h3=\":443\"; ma=soon"], nil),
            // What can't be read.
            (["h3"], nil), (["h3=\":443"], nil), (["h3=\"443\""], nil), (["h3=\":\""], nil), (["=\":443\""], nil),
            (["h3=\":443\"; ma"], nil), (["h3=\":443\\"], nil), (["h3=\":99999999999999999999\""], nil),
            ([", , h3=\":443\""], day),
        ] as [([String], Duration?)])
    func `an announcement is of the origin's own port and host`(fields: [String], time: Duration?) {
        #expect(AlternativeServices.http3(in: fields, host: "a.test", port: 443) == time)
    }

    private let start = MonotonicTime(nanoseconds: 1)

    @Test func `an announcement counts for its time, and the last one alone`() {
        var state = HTTP3State()
        #expect(!state.isOffered(at: start))
        state.announced(for: .seconds(60), at: start)
        #expect(state.isOffered(at: start + .seconds(59)) && !state.isOffered(at: start + .seconds(60)))
        state.announced(for: nil, at: start)
        #expect(!state.isOffered(at: start))
    }

    @Test func `each failure doubles the time without QUIC, up to an hour`() {
        var (state, now, pauses) = (HTTP3State(), start, [Int]())
        state.announced(for: Self.day, at: now)
        for _ in 0..<9 {
            state.failed(at: now)
            // Others that were under way fail as well.
            state.failed(at: now + .seconds(1))
            var seconds = 0
            while state.isAvoided(at: now + .seconds(seconds)) { seconds += 60 }
            pauses.append(seconds)
            now = now + .seconds(seconds)
            #expect(state.isOffered(at: now))
        }
        #expect(pauses == [60, 120, 240, 480, 960, 1_920, 3_600, 3_600, 3_600])
        state.succeeded()
        state.failed(at: now)
        #expect(state.isAvoided(at: now + .seconds(59)) && !state.isAvoided(at: now + .seconds(60)))
        // A connection that fell back may serve requests for that long.
        #expect(HTTP3State.shortestPause > .seconds(HardenedDefaults.maximumConnectionIdle))
    }

    private func head(_ text: String) throws -> ReceivedHead {
        try ReceivedHead(WholeHead(bytes: Array(text.utf8), scan: nil))
    }

    @Test func `a place says which version to ask for`() throws {
        let place = HTTP3Place(port: 443, host: "a.test")
        func versions(_ time: Duration) -> [TransportOptions.HTTPVersion?] {
            [.automatic, .http3, .http2, .http3Only].map { place.version(insteadOf: $0, at: start + time) }
        }
        #expect(versions(.zero) == [nil, nil, nil, nil])
        place.responded(try head("HTTP/2 200\r\nalt-svc: h3=\":443\"\r\n\r\n"), asked: false, at: start)
        #expect(versions(.zero) == [.http3, nil, nil, nil])
        place.responded(try head("HTTP/3 200\r\n\r\n"), asked: true, at: start)
        #expect(versions(.zero) == [.http3, nil, nil, nil])
        place.responded(try head("HTTP/2 200\r\n\r\n"), asked: true, at: start)
        #expect(versions(.zero) == [nil, .http2, nil, nil] && versions(.seconds(60)) == [.http3, nil, nil, nil])
        place.responded(try head("HTTP/3 421\r\n\r\n"), asked: true, at: start + .seconds(60))
        #expect(versions(.seconds(60)) == [nil, .http2, nil, nil])
        place.responded(try head("HTTP/3 200\r\nalt-svc: clear\r\n\r\n"), asked: true, at: start)
        #expect(versions(.zero) == [nil, nil, nil, nil])
    }

    @Test(
        arguments: [
            (NetworkError.Code.connectionLost, .waiting, true), (.totalTimeout, .waiting, true),
            (.connectTimeout, .connecting, false), (.totalTimeout, .queued, false), (.cancelled, .waiting, false),
            (.pinnedKeyMismatch, .connecting, false), (.nameNotResolved, .connecting, false),
            (.connectionLost, .receiving, false),
        ] as [(NetworkError.Code, NetworkError.Phase, Bool)])
    func `what fails on the network counts against QUIC`(
        code: NetworkError.Code, phase: NetworkError.Phase, counts: Bool
    ) {
        let place = HTTP3Place(port: 443, host: "a.test")
        place.failed(NetworkError(code, "", phase: phase), at: start)
        #expect((place.version(insteadOf: .http3, at: start) == .http2) == counts)
    }

    @Test func `places are apart by origin and by what makes a connection`() throws {
        let memory = HTTP3Memory()
        func place(_ url: String, _ change: (inout TransportOptions) -> Void = { _ in }) throws -> HTTP3Place {
            var options = TransportOptions()
            change(&options)
            return memory.place(of: Origin(try RequestURL(url), options), options)
        }
        let first = try place("https://a.test/")
        #expect(try place("https://a.test:443/other") { $0.httpVersion = .http3 } === first)
        #expect(try place("https://a.test/") { $0.totalTimeout = .seconds(1) } === first)
        #expect(try place("https://a.test:444/") !== first && place("https://b.test/") !== first)
        #expect(try place("https://a.test/") { $0.tls.authorities = .file("/a") } !== first)
        // The number of them is limited.
        for number in 0..<1_024 { _ = try place("https://a.test:\(1_000 + number)/") }
        #expect(try place("https://a.test/") !== first)
    }

    typealias Change = @Sendable (inout TransportOptions) -> Void

    static let upgrades: [(Bool, Change)] = [
        (true, { _ in }), (false, { $0.httpVersion = .http2 }), (false, { $0.connection.unixSocket = .path("/s") }),
        (false, { $0.proxy = .explicit(.init("http://127.0.0.1:1")) }), (false, { $0.tls.maximumVersion = .tls1_2 }),
        (true, { $0.tls.maximumVersion = .tls1_3 }), (false, { $0.connection.forbidsReuse = true }),
        (true, { $0.tls.pinnedPublicKeys = ["sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="] }),
    ]

    @Test(arguments: upgrades)
    func `requests that QUIC could not serve are not upgraded`(may: Bool, change: Change) {
        func support(_ minor: Int, _ features: Set<String>) -> LibcurlSupport {
            LibcurlSupport(
                version: LibcurlVersion(8, minor), tlsLibrary: "OpenSSL/3", features: features, protocols: ["https"],
                defaultCAFile: nil, initialisation: 0)
        }
        var options = TransportOptions()
        options.proxy = .none
        change(&options)
        #expect(options.mayUpgradeToHTTP3(over: support(23, ["HTTP2", "HTTP3"])) == may)
        #expect(!options.mayUpgradeToHTTP3(over: support(22, ["HTTP2", "HTTP3"])))
        #expect(!options.mayUpgradeToHTTP3(over: support(23, ["HTTP2"])))
    }
}
