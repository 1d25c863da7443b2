import Foundation
import Logging
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

@Suite("TLS files that change", .patience(minutes: 1))
final class RotatingTLSTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "rotating-\(UUID().uuidString)")
    private let log = Recorder()
    private let pin = "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func write(_ texts: [String: String]) throws {
        for (name, text) in texts { try Data(text.utf8).write(to: folder.appending(path: name)) }
    }

    private func path(_ name: String) -> String { folder.appending(path: name).path }

    private func rotating(
        password: TransportOptions.Secret? = nil, now: Date = Date(timeIntervalSince1970: 1_900_000_000)
    ) throws -> RotatingTLS {
        try RotatingTLS(
            .init(
                authorities: path("ca"), certificate: path("cert"), key: path("key"), password: password,
                pins: path("pins")),
            every: .seconds(10), logger: log.logger, clock: ContinuousClock(), now: { now })
    }

    private static let good = ["ca": PEMFixture.two, "cert": PEMFixture.one, "key": PEMFixture.oneKey]

    private func writeGood() throws {
        try write(Self.good)
        try write(["pins": "# ours\n\(pin)  # the first\n\n"])
    }

    private func options(_ tls: RotatingTLS, certificate: Bool = true) -> TransportOptions {
        var options = TransportOptions()
        options.tls.minimumVersion = .tls1_3
        tls.apply(to: &options, sendsCertificate: certificate)
        return options
    }

    private func certificate(_ tls: RotatingTLS) -> TransportOptions.TLS.Source? {
        options(tls).tls.clientCertificate?.certificate
    }

    @Test func `what was read is set, and what has changed is read again`() throws {
        try writeGood()
        let tls = try rotating()
        let first = options(tls)
        #expect(first.tls.authorities == .bytes(Data(PEMFixture.two.utf8)) && first.tls.pinnedPublicKeys == [pin])
        #expect(first.tls.clientCertificate?.certificate == .bytes(Data(PEMFixture.one.utf8)))
        #expect(first.tls.clientCertificate?.key == .bytes(Data(PEMFixture.oneKey.utf8)))
        #expect(first.tls.minimumVersion == .tls1_3 && options(tls, certificate: false).tls.clientCertificate == nil)
        #expect(options(tls, certificate: false).tls.pinnedPublicKeys == [pin])
        #expect(!tls.refresh() && tls.status.rotations == 0 && tls.status.problem == nil)
        try write(["cert": PEMFixture.two, "key": PEMFixture.twoKey, "pins": pin])
        #expect(tls.refresh() && certificate(tls) == .bytes(Data(PEMFixture.two.utf8)))
        #expect(tls.status.rotations == 1 && log.all.count == 1)
        #expect(tls.status.expiry.keys.sorted() == ["authorities", "certificate"])
    }

    /// A transport finds what it knows of a request's options by their identity.
    @Test func `requests between two changes have the same options`() throws {
        try writeGood()
        let tls = try rotating()
        func set() -> TransportOptions {
            var options = TransportOptions()
            tls.apply(to: &options)
            return options
        }
        let first = set()
        #expect(first.groupsIdentity == set().groupsIdentity && first.groupsIdentity != nil)
        try write(["ca": PEMFixture.one])
        #expect(tls.refresh() && set().groupsIdentity != first.groupsIdentity)
    }

    private static let faults: [(files: [String: String], words: String)] = [
        (["ca": ""], "no certificate"), (["ca": String(PEMFixture.one.dropLast(60))], "ends within a block"),
        (["ca": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"], "no X.509 certificate"),
        (["key": PEMFixture.twoKey], "of another certificate"), (["cert": PEMFixture.two], "of another certificate"),
        (["key": String(PEMFixture.oneKey.prefix(90))], "does not accept the private key"),
        (["cert": PEMFixture.expired], "has expired"), (["ca": PEMFixture.expired], "has expired"),
        (["pins": "sha256//abc"], "pinnedPublicKeys"), (["pins": "# none"], "no pin"),
        (["key": PEMFixture.oneLockedKey], "password is wrong"),
        (["ca": String(repeating: PEMFixture.one, count: 8_000)], "more than"),
    ]

    @Test(arguments: faults.indices)
    func `what can't be used changes nothing, and says why once`(index: Int) throws {
        let (files, words) = Self.faults[index]
        try writeGood()
        let tls = try rotating()
        let before = options(tls)
        try write(files)
        for _ in 0..<3 { #expect(!tls.refresh()) }
        #expect(options(tls) == before && tls.status.rotations == 0)
        #expect(tls.status.problem?.contains(words) == true && log.all.count == 1)
        #expect(tls.figures.first { $0.name == "networklayer.tls.problem" }?.number == 1)
        #expect(log.all.first?.contains("secret") == false)
        try writeGood()
        #expect(!tls.refresh() && tls.status.problem == nil)
    }

    @Test func `a file that is gone changes nothing, and the others are taken up`() throws {
        try writeGood()
        let tls = try rotating()
        try FileManager.default.removeItem(atPath: path("ca"))
        try write(["cert": PEMFixture.two, "key": PEMFixture.twoKey])
        #expect(tls.refresh() && certificate(tls) == .bytes(Data(PEMFixture.two.utf8)))
        #expect(options(tls).tls.authorities == .bytes(Data(PEMFixture.two.utf8)))
        #expect(tls.status.problem?.contains("/ca") == true)
    }

    @Test func `files that can't be used at the start are an error, but for expired ones`() throws {
        try writeGood()
        try write(["key": PEMFixture.twoKey])
        expectFailure(.invalidConfiguration) { try rotating() }
        try FileManager.default.removeItem(atPath: path("key"))
        expectFailure(.unreadableFile) { try rotating() }
        try writeGood()
        try write(["cert": PEMFixture.expired])
        let tls = try rotating()
        #expect(tls.status.expiry["certificate"] ?? .distantFuture < Date(timeIntervalSince1970: 1_900_000_000))
        let left = tls.figures.first { $0.dimensions == ["role": "certificate"] }
        #expect(left?.name == "networklayer.tls.expiry_seconds" && (left?.number ?? 0) < 0)
        #expect(tls.figures.first { $0.name == "networklayer.tls.problem" }?.number == 0)
        try write(["cert": PEMFixture.one])
        #expect(tls.refresh())
    }

    @Test func `a password opens the key`() throws {
        try writeGood()
        try write(["key": PEMFixture.oneLockedKey])
        let tls = try rotating(password: "secret")
        #expect(options(tls).tls.clientCertificate?.password == "secret")
        expectFailure(.invalidConfiguration) { try rotating(password: "other") }
    }

    @Test func `it reads again by its clock, until it is cancelled`() async throws {
        try writeGood()
        let clock = ManualClock()
        let tls = try RotatingTLS(.init(authorities: path("ca")), every: .seconds(10), clock: clock)
        let task = Task { await tls.run() }
        await clock.waitForSleepers(1)
        try write(["ca": PEMFixture.one])
        clock.advance(by: .seconds(10))
        await clock.waitForSleepers(1)
        #expect(tls.status.rotations == 1)
        task.cancel()
        await task.value
    }

    @Test func `the certificate goes to the client's own origin, the authorities to any`() async throws {
        try writeGood()
        let stub = StubTransport()
        stub.when(.get("/away"), .status(302, headerFields: [.location: "https://other/b"]))
        stub.always(.any, .text("x"))
        let client = NetworkClient(transport: stub, baseURL: "https://own").rotating(try rotating())
        for url in ["https://own/a", "https://other/a", "https://own/away"] {
            _ = try await client.send(RequestData(url: url), as: .text)
        }
        let tls = stub.sent.map(\.options.tls)
        #expect(tls.map { $0.clientCertificate != nil } == [true, false, true, false])
        #expect(tls.allSatisfy { $0.authorities == .bytes(Data(PEMFixture.two.utf8)) })
    }
}

@Suite("The validity of certificates")
struct CertificateValidityTests {
    @Test func `it is read from each certificate, and other blocks are skipped`() throws {
        let text = "words\n\(PEMFixture.oneKey)\(PEMFixture.one)\n\(PEMFixture.expired.replacing("\n", with: "\r\n"))"
        let found = try CertificateValidity.all(in: Data(text.utf8))
        #expect(found.count == 2)
        #expect(found.map { Int($0.end.timeIntervalSince1970) } == [4_906_294_107, 1_795_807_707])
        #expect(found[0].begin < found[0].end)
    }

    /// No byte of a certificate that is cut or changed may trap.
    @Test func `certificates that are cut or damaged are refused or read`() throws {
        let base64 = PEMFixture.one.split(separator: "\n").dropFirst().dropLast().joined()
        let whole = [UInt8](try #require(Data(base64Encoded: base64)))
        for count in 0..<whole.count {
            #expect(throws: CertificateValidity.Fault.self) { try CertificateValidity(der: Array(whole.prefix(count))) }
        }
        for place in whole.indices {
            for value in [0, 0x30, 0x7F, 0x80, 0x84, 0x88, 0xFF] as [UInt8] {
                var damaged = whole
                damaged[place] = value
                _ = try? CertificateValidity(der: damaged)
            }
        }
    }
}
