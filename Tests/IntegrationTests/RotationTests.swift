import CurlTransport
import Foundation
import NetworkLayer
import NetworkTesting
import Synchronization
import TestSupport
import Testing

/// Certificates of a server and of a client, and the authorities of both, change under load.
@Suite(.enabled(if: Peers.tlsPort != nil, Peers.absence(of: Peers.tlsVariable)), .patience(minutes: 1))
final class RotationTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "rotation-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func path(_ name: String) -> String { folder.appending(path: name).path }

    private func openssl(_ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        (process.currentDirectoryURL, process.standardError) = (folder, FileHandle.nullDevice)
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "openssl \(arguments)")
    }

    /// Makes a key and a certificate, signed by an authority or by itself.
    private func make(_ name: String, by authority: String? = nil) throws {
        try openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "\(name).key")
        guard let authority else {
            return try openssl(
                "req", "-x509", "-new", "-key", "\(name).key", "-out", "\(name).pem", "-days", "30", "-subj",
                "/CN=\(name)", "-addext", "basicConstraints=critical,CA:TRUE", "-addext",
                "keyUsage=critical,keyCertSign")
        }
        try Data("subjectAltName=DNS:localhost".utf8).write(to: folder.appending(path: "\(name).ext"))
        try openssl("req", "-new", "-key", "\(name).key", "-out", "\(name).csr", "-subj", "/CN=\(name)")
        try openssl(
            "x509", "-req", "-in", "\(name).csr", "-CA", "\(authority).pem", "-CAkey", "\(authority).key",
            "-CAcreateserial", "-out", "\(name).pem", "-days", "30", "-extfile", "\(name).ext")
    }

    /// Replaces a file as a careful program does: by its name.
    private func install(_ sources: String..., as name: String) throws {
        let bytes = try sources.map { try Data(contentsOf: folder.appending(path: $0)) }.reduce(Data(), +)
        try bytes.write(to: folder.appending(path: name), options: .atomic)
    }

    private func installServer(_ name: String) throws {
        try install("\(name).pem", "\(name).key", as: "server.pem")
        try Data(name.utf8).write(to: folder.appending(path: "server.name"), options: .atomic)
    }

    private final class Load: Sendable {
        let bodies = Guarded<Set<String>>([])
        let errors = Guarded<[String]>([])
        let count = Atomic(0)

        func send(over client: NetworkClient) async {
            while !Task.isCancelled {
                do {
                    let body = try await client.send(RequestData(path: "/"), as: .text).body
                    bodies.withLock { _ = $0.insert(body) }
                    count.add(1, ordering: .relaxed)
                } catch  where !Task.isCancelled {
                    errors.withLock { $0.append("\(error)") }
                } catch {}
            }
        }

        /// Waits for a condition, or for an error.
        func wait(until isMet: () -> Bool) async {
            while !isMet(), !Task.isCancelled, errors.withLock(\.isEmpty) {
                try? await Task.sleep(for: .milliseconds(5))
            }
        }

        /// Waits for a response that is new, whose body is the only one from then on.
        func settle(on body: String) async {
            while !Task.isCancelled, errors.withLock(\.isEmpty) {
                bodies.withLock { $0 = [] }
                let start = count.load(ordering: .relaxed)
                await wait { count.load(ordering: .relaxed) >= start + 40 }
                if bodies.withLock(\.self) == [body] { return }
            }
        }
    }

    @Test func `certificates and authorities of both sides change under load, and no exchange is lost`() async throws {
        for authority in ["ca1", "ca2"] { try make(authority) }
        for (name, authority) in [("s1", "ca1"), ("s2", "ca2"), ("c1", "ca1"), ("c2", "ca2")] {
            try make(name, by: authority)
        }
        try installServer("s1")
        for name in ["clients.pem", "ca.pem"] { try install("ca1.pem", as: name) }
        try install("c1.key", as: "client.key")
        try install("c1.pem", as: "client.pem")

        let peer = try TLSPeer("tls-rotating", options: [folder.path])
        let tls = try RotatingTLS(
            .init(authorities: path("ca.pem"), certificate: path("client.pem"), key: path("client.key")),
            every: .milliseconds(20))
        let client = NetworkClient(
            transport: CurlNetworkDispatcher(), baseURL: "https://localhost:\(peer.port)"
        ).rotating(tls)
        let load = Load()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await tls.run() }
            for _ in 0..<6 { group.addTask { await load.send(over: client) } }
            defer { group.cancelAll() }
            do {
                await load.settle(on: "server=s1 client=c1")
                // Both sides trust both authorities before anyone changes its certificate.
                for name in ["clients.pem", "ca.pem"] { try install("ca1.pem", "ca2.pem", as: name) }
                await load.wait { tls.status.rotations == 1 }
                try installServer("s2")
                await load.settle(on: "server=s2 client=c1")
                // A key without its certificate is not taken.
                try install("c2.key", as: "client.key")
                await load.wait { tls.status.problem != nil }
                await load.settle(on: "server=s2 client=c1")
                try install("c2.pem", as: "client.pem")
                await load.settle(on: "server=s2 client=c2")
                for name in ["clients.pem", "ca.pem"] { try install("ca2.pem", as: name) }
                await load.wait { tls.status.rotations == 3 }
                await load.settle(on: "server=s2 client=c2")
            } catch { Issue.record(error) }
        }
        #expect(load.errors.withLock(\.self) == [] && load.count.load(ordering: .relaxed) > 200)
        #expect(tls.status.problem == nil && tls.status.rotations == 3)
    }
}
