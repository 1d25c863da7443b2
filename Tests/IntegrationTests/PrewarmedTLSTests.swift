import Foundation
import HTTPTypes
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

/// TLS connections that were opened ahead, and over which the server has sent something before their first request.
@Suite(.enabled(if: Peers.tlsPort != nil, Peers.absence(of: Peers.tlsVariable)), .patience(minutes: 1))
struct PrewarmedTLSTests {
    private let dispatcher = CurlNetworkDispatcher()
    private static let versions = [TransportOptions.TLS.Version.tls1_2, .tls1_3]
    private static let protocols = [TransportOptions.HTTPVersion.http1_1, .automatic]
    private let asked = Script.Step.forEachRequest([.ok("asked")])

    private func options(
        _ version: TransportOptions.TLS.Version, _ http: TransportOptions.HTTPVersion
    ) -> TransportOptions {
        var options = TransportOptions()
        options.trustPeers()
        (options.httpVersion, options.tls.maximumVersion) = (http, version)
        options.totalTimeout = .seconds(30 * patienceFactor)
        return options
    }

    private func text(
        _ front: TLSFront, _ options: TransportOptions, body: TransportRequest.Body? = nil
    ) async throws -> String {
        try await Exchange(front.url, body: body, over: dispatcher) { $0 = options }.text
    }

    /// Regression: each response went to the request after the one that it belonged to. With `automatic`, a libcurl
    /// that may speak HTTP/2 learns from the connection alone that it does not.
    @Test(arguments: versions, protocols)
    func `a response that nothing asked for reaches one request at most`(
        version: TransportOptions.TLS.Version, http: TransportOptions.HTTPVersion
    ) async throws {
        let unasked = "HTTP/1.1 200 OK\r\nContent-Length: 4000\r\n\r\n" + String(repeating: "u", count: 4_000)
        let server = try ScriptedServer([.send(unasked), asked], [asked])
        defer { server.stop() }
        let front = try TLSFront(to: server)
        try await dispatcher.prewarm(front.url, options: options(version, http))
        try await Sockets.wait(to: front.port) { $0.received > 4_000 }
        var texts: [String] = []
        for _ in 0..<3 { texts.append(try await text(front, options(version, http))) }
        #expect(texts[1...] == ["asked", "asked"])
        if version == .tls1_2 { #expect(texts[0] == "asked") }
    }

    /// Regression: a POST that the server never received got the 408 of an idle connection, or failed as one that may
    /// have been executed.
    @Test(arguments: versions, protocols)
    func `a connection that the server has ended serves no request`(
        version: TransportOptions.TLS.Version, http: TransportOptions.HTTPVersion
    ) async throws {
        for last in ["", "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n"] {
            let server = try ScriptedServer([.send(last), .close], [asked])
            defer { server.stop() }
            let front = try TLSFront(to: server)
            try await dispatcher.prewarm(front.url, options: options(version, http))
            try await Sockets.wait(to: front.port, until: \.isEnded)
            #expect(try await text(front, options(version, http), body: .bytes(Data("x".utf8))) == "asked")
            #expect(server.requests.count { $0.head.contains("POST ") } == 1)
        }
    }

    /// Regression: with `automatic`, a libcurl that may speak HTTP/2 was not asked for what waits in the socket, and an
    /// upload that moved was idle.
    @Test(arguments: protocols)
    func `the idle timeout is not for an upload that moves`(http: TransportOptions.HTTPVersion) async throws {
        let size = 400_000
        // Longer in all than the timeout.
        let slow = Script.Step.readBody(size, each: 20_000, pause: .milliseconds(250 * patienceFactor))
        try await withServer([.readHead, slow, .ok("asked")], segment: 1_000) { server in
            let front = try TLSFront(to: server, segment: 1_000)
            var options = options(.tls1_3, http)
            options.idleTimeout = .seconds(2 * patienceFactor)
            options.totalTimeout = .seconds(30 * patienceFactor)
            #expect(try await text(front, options, body: .bytes(Data(count: size))) == "asked")
        }
    }
}

/// The process's TCP connections as the system sees them (proc_net_tcp(5)).
enum Sockets {
    struct State {
        /// The number of bytes that have arrived and are not read.
        var received: Int
        /// Whether the peer has ended the connection.
        var isEnded: Bool
    }

    /// Waits until a connection to a port is in some state.
    static func wait(to port: Int, until isThere: (State) -> Bool) async throws {
        let suffix = ":" + String(port, radix: 16, uppercase: true).paddedToFour
        let deadline = ContinuousClock.now + .seconds(20 * patienceFactor)
        while ContinuousClock.now < deadline {
            // The file has no length, by which other ways to read it would go.
            let bytes = try FileHandle(forReadingAtPath: "/proc/net/tcp")?.readToEnd()
            let table = String(decoding: bytes ?? Data(), as: UTF8.self)
            let rows = table.split(separator: "\n").map { $0.split(separator: " ") }
            let found = rows.contains { row in
                guard row.count > 4, row[2].hasSuffix(suffix), let waits = row[4].split(separator: ":").last else {
                    return false
                }
                return isThere(State(received: Int(waits, radix: 16) ?? 0, isEnded: row[3] == "08"))
            }
            if found { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        Issue.record("no connection to port \(port) came into the state that was waited for")
    }
}

extension String {
    fileprivate var paddedToFour: String { String(repeating: "0", count: max(0, 4 - count)) + self }
}
