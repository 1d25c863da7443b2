import HTTPTypes
import NetworkCore
import Synchronization

/// What a dispatcher knows about HTTP/3 at the places of its requests: which servers announce it (`Alt-Svc`, RFC 7838),
/// and where QUIC has failed.
///
/// A place is an origin and what makes a connection to it, so what was heard over one proxy, interface or authority
/// counts for requests with the same one. libcurl's own cache (CURLOPT_ALTSVC) would also lead to other hosts and
/// ports, past the address policy's and the pools' idea of an origin, and remembers no failures.
final class HTTP3Memory: Sendable {
    private struct Place: Hashable {
        let origin: Origin
        let key: ConnectionKey
    }

    private let known = Guarded<[Place: HTTP3Place]>([:])
    /// The number of places to remember; one more, and all are forgotten.
    private static let maximum = 1_024

    /// Returns what is known about the place of a request's connections, once for each plan.
    func place(of origin: Origin, _ options: TransportOptions) -> HTTP3Place {
        let place = Place(origin: origin, key: ConnectionKey(options.ofConnection, isSecure: true))
        return known.withLock { known in
            if let found = known[place] { return found }
            if known.count >= Self.maximum { known = [:] }
            let new = HTTP3Place(port: origin.port, host: origin.host)
            known[place] = new
            return new
        }
    }

    func forget() { known.withLock { $0 = [:] } }
}

/// What is known about HTTP/3 at one place.
final class HTTP3Place: Sendable {
    private let state = Guarded(HTTP3State())
    private let port: Int
    private let host: String

    init(port: Int, host: String) { (self.port, self.host) = (port, host) }

    /// Returns the version to ask for in place of the one that a request names; `nil` for that.
    func version(insteadOf asked: TransportOptions.HTTPVersion, at now: MonotonicTime) -> TransportOptions.HTTPVersion?
    {
        let state = state.withLock { $0 }
        return switch asked {
        case .automatic: state.isOffered(at: now) ? .http3 : nil
        case .http3: state.isAvoided(at: now) ? .http2 : nil
        default: nil
        }
    }

    /// Notes a response, and what it says about HTTP/3.
    /// - Parameter asked: Whether the request asked for HTTP/3.
    func responded(_ head: ReceivedHead, asked: Bool, at now: MonotonicTime) {
        let fields = head.head.headerFields[values: .altSvc]
        let offer = fields.isEmpty ? nil : AlternativeServices.http3(in: fields, host: host, port: port)
        state.withLock { state in
            if !fields.isEmpty { state.announced(for: offer, at: now) }
            guard asked else { return }
            // 421: the server does not serve this origin there (RFC 9110 §15.5.20).
            head.isHTTP3 && head.status != .misdirectedRequest ? state.succeeded() : state.failed(at: now)
        }
    }

    /// Notes the failure of a request that asked for HTTP/3 and has no response. One that reached no server tells
    /// nothing, since TCP has failed too.
    func failed(_ error: NetworkError, at now: MonotonicTime) {
        let isOfNetwork: Set<NetworkError.Code> = [
            .connectionLost, .firstByteTimeout, .idleTimeout, .totalTimeout,
        ]
        guard isOfNetwork.contains(error.code), error.phase == .waiting else { return }
        state.withLock { $0.failed(at: now) }
    }
}

/// What is known about HTTP/3 at one place, as a value. Pure.
struct HTTP3State {
    private var announcedUntil: MonotonicTime?
    private var avoidedUntil: MonotonicTime?
    private var failures = 0

    /// The first time without QUIC after a failure: longer than a connection that fell back may be idle, so that the
    /// next request does not take that one for another failure.
    static let shortestPause = Duration.seconds(60)
    static let longestPause = Duration.seconds(3_600)

    func isAvoided(at now: MonotonicTime) -> Bool { avoidedUntil.map { now < $0 } ?? false }

    func isOffered(at now: MonotonicTime) -> Bool { announcedUntil.map { now < $0 } == true && !isAvoided(at: now) }

    /// Notes an announcement, which replaces the one before (RFC 7838 §3); `nil` for one without HTTP/3.
    mutating func announced(for time: Duration?, at now: MonotonicTime) { announcedUntil = time.map { now + $0 } }

    mutating func succeeded() { (avoidedUntil, failures) = (nil, 0) }

    /// Notes that QUIC has failed, once for all requests that were under way then.
    mutating func failed(at now: MonotonicTime) {
        guard !isAvoided(at: now) else { return }
        avoidedUntil = now + min(Self.shortestPause * (1 << min(failures, 6)), Self.longestPause)
        failures += 1
    }
}

/// The field `Alt-Svc` (RFC 7838 §3).
enum AlternativeServices {
    /// Returns for how long HTTP/3 is announced for the origin's own host and port; `nil` for not at all. Other hosts
    /// and ports are left alone: a response can't send the requests after it somewhere else.
    static func http3(in fields: [String], host: String, port: Int) -> Duration? {
        for value in fields {
            var rest = value[...].utf8
            while let service = takeService(from: &rest) {
                guard service.name == "h3", let place = Place(service.authority), place.port == port,
                    place.host.isEmpty || place.host.lowercased() == host
                else { continue }
                return service.age > .zero ? min(service.age, longest) : nil
            }
        }
        return nil
    }

    private static let standard = Duration.seconds(86_400)
    /// A server may have gone from HTTP/3 long before a longer time is over, and announces it with each response.
    private static let longest = Duration.seconds(7 * 86_400)

    private struct Place {
        let host: Substring
        let port: Int

        init?(_ authority: String) {
            guard let colon = authority.lastIndex(of: ":"), let port = Int(authority[authority.index(after: colon)...])
            else { return nil }
            (host, self.port) = (authority[..<colon], port)
        }
    }

    /// Takes `h3=":443"; ma=3600; persist=1` with the comma before it; `nil` at the end, at `clear`, and for what can't
    /// be read.
    private static func takeService(
        from rest: inout Substring.UTF8View
    ) -> (name: String, authority: String, age: Duration)? {
        rest = rest.drop { $0.isBlank || $0 == UInt8(ascii: ",") }
        guard let (name, authority) = takeParameter(from: &rest) else { return nil }
        var age = standard
        while true {
            rest = rest.drop(while: \.isBlank)
            guard rest.first == UInt8(ascii: ";") else { return (name, authority, age) }
            rest = rest.dropFirst().drop(while: \.isBlank)
            guard let (key, value) = takeParameter(from: &rest) else { return nil }
            if key == "ma" { age = .seconds(Int32(value) ?? 0) }
        }
    }

    private static func takeParameter(from rest: inout Substring.UTF8View) -> (name: String, value: String)? {
        let name = takeToken(from: &rest)
        guard !name.isEmpty, rest.popFirst() == UInt8(ascii: "=") else { return nil }
        if rest.first == UInt8(ascii: "\"") { return rest.popQuoted().map { (name, $0) } }
        return (name, takeToken(from: &rest))
    }

    private static func takeToken(from rest: inout Substring.UTF8View) -> String {
        let token = rest.prefix { !$0.isBlank && !"=,;".utf8.contains($0) }
        rest = rest.dropFirst(token.count)
        return String(decoding: token, as: UTF8.self)
    }
}

extension HTTPField.Name {
    fileprivate static let altSvc = HTTPField.Name("Alt-Svc")!
}
