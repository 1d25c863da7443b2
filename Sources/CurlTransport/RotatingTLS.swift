public import FoundationEssentials
public import Logging
public import NetworkCore
import Synchronization

#if ServiceLifecycle
public import ServiceLifecycle
#endif

/// Certificates, a key, authorities and pins in files that change, such as those of cert-manager or of a Kubernetes
/// secret: a change is taken up without an exchange being lost.
///
/// ```swift
/// let tls = try RotatingTLS(.init(authorities: "/tls/ca.crt", certificate: "/tls/tls.crt", key: "/tls/tls.key"))
/// let client = NetworkClient(transport: CurlNetworkDispatcher.shared, baseURL: "https://orders").rotating(tls)
/// group.addTask { await tls.run() }
/// ```
///
/// ``run()`` reads the files again and again; requests take what was read last. They carry it in memory, and other
/// bytes mean other connections: exchanges go on over theirs, which close once they are idle, and new ones connect
/// anew.
///
/// Each file is taken by itself, a certificate together with its key. What can't be used changes nothing: a file that
/// is missing, has more than ``maximumBytes`` or ends within a block, a key that is not the certificate's (told by
/// OpenSSL alone), an expired certificate in place of one that is valid, a pin that is none. The last good files stay,
/// ``status`` has the reason, and it is logged once.
///
/// Authorities in memory are parsed for each new connection
/// (``NetworkCore/TransportOptions/TLS/Authorities-swift.enum/bytes(_:)``): name your own few.
public final class RotatingTLS: ReportsFigures {
    /// The paths of PEM files; `nil` for what is left as it is.
    public struct Files: Sendable, Hashable {
        /// The authorities to trust, instead of all others.
        public var authorities: String?
        /// The client's certificate and the intermediate ones.
        public var certificate: String?
        /// The certificate's private key; `nil` if it is in the same file.
        public var key: String?
        /// The password of the private key.
        public var password: TransportOptions.Secret?
        /// The server's possible public keys, one on each line, as in
        /// ``NetworkCore/TransportOptions/TLS-swift.struct/pinnedPublicKeys``. A `#` begins a comment. They hold for
        /// each server that the client reaches, those of redirects too.
        public var pins: String?

        /// Creates a list of paths.
        public init(
            authorities: String? = nil, certificate: String? = nil, key: String? = nil,
            password: TransportOptions.Secret? = nil, pins: String? = nil
        ) {
            (self.authorities, self.certificate, self.key) = (authorities, certificate, key)
            (self.password, self.pins) = (password, pins)
        }
    }

    /// The largest file: 4 MiB.
    public static let maximumBytes = 4 * 1_048_576

    /// What was read last and can be used.
    private struct Contents: Sendable, Equatable {
        var authorities: Data?
        var certificate: Data?
        var key: Data?
        var pins: [String]?
        var expiry: [String: Date] = [:]

        func set(_ tls: inout TransportOptions.TLS, password: TransportOptions.Secret?, withCertificate: Bool) {
            if let authorities { tls.authorities = .bytes(authorities) }
            if let pins { tls.pinnedPublicKeys = pins }
            if withCertificate, let certificate {
                tls.clientCertificate = .init(.bytes(certificate), key: key.map { .bytes($0) }, password: password)
            }
        }
    }

    private struct State: Sendable {
        var contents = Contents()
        var rotations = 0
        var problem: String?
        var own = DerivedOptions { _ in }
        var others = DerivedOptions { _ in }
    }

    private let files: Files
    private let interval: Duration
    private let clock: any Clock<Duration>
    private let logger: Logger?
    private let now: @Sendable () -> Date
    private let state = Guarded(State())
    /// Held while files are read, so that what was read last is what was read first.
    private let reading = Guarded(())

    /// Reads the files.
    /// - Parameters:
    ///   - files: The paths.
    ///   - interval: The time between two readings. Default: 10 s.
    ///   - logger: The log for changes, and for files that can't be used. Default: none.
    ///   - clock: The clock, for tests.
    /// - Throws: ``NetworkCore/NetworkError/Code/unreadableFile``, or
    ///   ``NetworkCore/NetworkError/Code/invalidConfiguration`` for a file that can't be used. An expired certificate
    ///   is accepted here, since there is no better one.
    public convenience init(
        _ files: Files, every interval: Duration = .seconds(10), logger: Logger? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) throws {
        try self.init(files, every: interval, logger: logger, clock: clock, now: { Date() })
    }

    init(
        _ files: Files, every interval: Duration, logger: Logger?, clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Date
    ) throws {
        (self.files, self.interval, self.logger, self.clock, self.now) = (files, interval, logger, clock, now)
        let (contents, problems) = read(after: Contents())
        if let problem = problems.first { throw problem }
        take(contents)
    }

    /// What is in use.
    public struct Status: Sendable, Hashable {
        /// When the certificates expire, by the role of their file. For `certificate`, the client's, the first of its
        /// chain to expire counts; for `authorities` the last one, after which no server is trusted.
        public let expiry: [String: Date]
        /// How often changed files were taken up.
        public let rotations: Int
        /// Why the files, as they are now, are not in use; `nil` if they are.
        public let problem: String?
    }

    /// What is in use now.
    public var status: Status {
        state.withLock { Status(expiry: $0.contents.expiry, rotations: $0.rotations, problem: $0.problem) }
    }

    /// `networklayer.tls.expiry_seconds` by `role`, the time left, below 0 afterwards; `networklayer.tls.rotations`, a
    /// total; and `networklayer.tls.problem`, 1 while the files can't be used and the last good ones are. OpenTelemetry
    /// has no names for these.
    public var figures: [Figure] {
        let (status, now) = (status, now())
        return status.expiry.map { role, end in
            Figure("networklayer.tls.expiry_seconds", end.timeIntervalSince(now).rounded(.down), by: ["role": role])
        } + [
            Figure("networklayer.tls.rotations", Double(status.rotations), .total),
            Figure("networklayer.tls.problem", status.problem == nil ? 0 : 1),
        ]
    }

    /// Reads the files again and again, until the task is cancelled or the service group shuts down.
    public func run() async {
        #if ServiceLifecycle
        await cancelWhenGracefulShutdown { await self.watch() }
        #else
        await watch()
        #endif
    }

    private func watch() async {
        let pause = max(.milliseconds(10), min(interval, TransportOptions.maximumTimeout))
        while (try? await clock.sleep(for: pause)) != nil { refresh() }
    }

    /// Reads the files now.
    /// - Returns: Whether something has changed that is now in use.
    @discardableResult
    public func refresh() -> Bool {
        let (hasChanged, problem, isNew) = reading.withLock { _ in
            let old = state.withLock { ($0.contents, $0.problem) }
            let (contents, problems) = read(after: old.0)
            let words = problems.isEmpty ? nil : problems.map(\.message).joined(separator: "; ")
            state.withLock { $0.problem = words }
            if contents != old.0 {
                take(contents)
                state.withLock { $0.rotations += 1 }
            }
            return (contents != old.0, words, words != old.1)
        }
        if hasChanged { logger?.notice("TLS files have changed and are in use (RotatingTLS)") }
        if let problem, isNew {
            logger?.error("TLS files are not in use, the last ones stay: \(problem) (RotatingTLS)")
        }
        return hasChanged
    }

    /// Sets what was read last.
    /// - Parameters:
    ///   - options: The options of a request.
    ///   - sendsCertificate: Whether the request is meant to show the client's certificate.
    public func apply(to options: inout TransportOptions, sendsCertificate: Bool = true) {
        state.withLock { sendsCertificate ? $0.own : $0.others }.apply(to: &options)
    }

    private func take(_ contents: Contents) {
        let password = files.password
        let own = DerivedOptions { contents.set(&$0.tls, password: password, withCertificate: true) }
        let others = DerivedOptions { contents.set(&$0.tls, password: password, withCertificate: false) }
        state.withLock { ($0.contents, $0.own, $0.others) = (contents, own, others) }
    }

    // MARK: Reading

    /// Returns what can be used of the files, in place of what could be used before.
    private func read(after old: Contents) -> (Contents, [NetworkError]) {
        var (new, problems) = (old, [NetworkError]())
        func part(_ read: (inout Contents) throws(NetworkError) -> Void) {
            var changed = new
            do throws(NetworkError) {
                try read(&changed)
                new = changed
            } catch { problems.append(error) }
        }
        if let path = files.authorities {
            part { contents throws(NetworkError) in try readAuthorities(path, &contents) }
        }
        if let path = files.certificate { part { contents throws(NetworkError) in try readPair(path, &contents) } }
        if let path = files.pins { part { contents throws(NetworkError) in try readPins(path, &contents) } }
        return (new, problems)
    }

    private func readAuthorities(_ path: String, _ contents: inout Contents) throws(NetworkError) {
        let pem = try Self.bytes(path)
        guard pem != contents.authorities else { return }
        let end = try Self.validities(pem, path).map(\.end).max() ?? .distantPast
        try refuseExpired(end, path, inUse: contents.expiry["authorities"])
        (contents.authorities, contents.expiry["authorities"]) = (pem, end)
    }

    private func readPair(_ path: String, _ contents: inout Contents) throws(NetworkError) {
        let certificate = try Self.bytes(path)
        let key: Data?
        if let file = files.key { key = try Self.bytes(file) } else { key = nil }
        guard certificate != contents.certificate || key != contents.key else { return }
        let end = try Self.validities(certificate, path).map(\.end).min() ?? .distantPast
        let verdict = KeyPair.check(
            certificate: certificate, key: key ?? certificate, password: files.password?.value ?? "")
        guard [.fits, .unknown].contains(verdict) else { throw Self.unusable(files.key ?? path, verdict.rawValue) }
        try refuseExpired(end, path, inUse: contents.expiry["certificate"])
        (contents.certificate, contents.key, contents.expiry["certificate"]) = (certificate, key, end)
    }

    private func readPins(_ path: String, _ contents: inout Contents) throws(NetworkError) {
        let text = String(decoding: try Self.bytes(path), as: UTF8.self)
        let lines = text.split(whereSeparator: \.isNewline).map { $0.prefix { $0 != "#" }.filter { !$0.isWhitespace } }
        let pins = lines.filter { !$0.isEmpty }
        // No pins at all would accept any key.
        guard !pins.isEmpty else { throw Self.unusable(path, "it has no pin") }
        var options = TransportOptions()
        options.tls.pinnedPublicKeys = pins
        do { try options.check() } catch { throw Self.unusable(path, (error as? NetworkError)?.message ?? "\(error)") }
        contents.pins = pins
    }

    private func refuseExpired(_ end: Date, _ path: String, inUse: Date?) throws(NetworkError) {
        guard end <= now(), let inUse, inUse > now() else { return }
        throw Self.unusable(path, "it has expired, and the one in use has not")
    }

    private static func bytes(_ path: String) throws(NetworkError) -> Data {
        let bytes = try PrivateFile.contents(of: path, upTo: maximumBytes)
        guard bytes.count <= maximumBytes else { throw unusable(path, "it has more than \(maximumBytes) bytes") }
        return bytes
    }

    private static func validities(_ pem: Data, _ path: String) throws(NetworkError) -> [CertificateValidity] {
        do throws(CertificateValidity.Fault) { return try CertificateValidity.all(in: pem) } catch {
            throw unusable(path, error.words)
        }
    }

    private static func unusable(_ path: String, _ why: String) -> NetworkError {
        NetworkError(.invalidConfiguration, "\(Redaction.visible(path)): \(why)", phase: .preparing)
    }
}

#if ServiceLifecycle
extension RotatingTLS: Service {}
#endif

extension NetworkClient {
    /// Returns the client with TLS files that change. The client's certificate goes to the origin of
    /// ``NetworkCore/NetworkClient/baseURL`` alone, and to any origin without one; a redirect to another origin leaves
    /// it behind.
    public func rotating(_ tls: RotatingTLS) -> NetworkClient {
        let client = self
        return with {
            $0.interceptors.append(
                .adapting { request in
                    tls.apply(to: &request.options, sendsCertificate: client.isBase(originOf: request.url))
                })
        }
    }
}
