import Foundation
import Logging
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport
import Synchronization

@Suite("Owners of connections", .patience(minutes: 1))
struct ConnectionOwnersTests {
    private final class Time: Sendable {
        private let time = Guarded(SuspendingClock.now)
        var now: SuspendingClock.Instant { time.withLock(\.self) }
        func advance(by duration: Duration) { time.withLock { $0 = $0 + duration } }
    }

    private let time = Time()
    /// The time in which libcurl can't have a connection left.
    private let memory = ConnectionOwners<String, Int>.memory

    private func owners() -> ConnectionOwners<String, Int> { ConnectionOwners { [time] in time.now } }

    @Test func `an owner is forgotten once libcurl can't have its connections`() {
        let owners = owners()
        var claims = [owners.claim("a", for: 1), owners.claim("a", for: 1)]
        #expect(!claims.contains { $0 == nil })
        for _ in 0..<2 {
            time.advance(by: .seconds(86_400))
            #expect(owners.claim("a", for: 2) == nil, "\(claims.count) requests run")
            claims.removeLast()
        }
        time.advance(by: memory)
        #expect(owners.claim("a", for: 2) == nil)
        time.advance(by: .nanoseconds(1))
        #expect(owners.claim("a", for: 2) != nil)
        #expect(owners.claim("a", for: 1) == nil)
    }

    /// Each request of the owner may have put a connection back.
    @Test func `each request of the owner is remembered anew`() {
        let owners = owners()
        for _ in 0..<3 {
            #expect(owners.claim("a", for: 1) != nil)
            time.advance(by: memory)
            #expect(owners.claim("a", for: 2) == nil)
        }
    }

    @Test func `a full table makes room for what it may forget`() {
        let owners = owners()
        var running: [ConnectionClaim?] = []
        for place in 0..<1_024 {
            let claim = owners.claim("\(place)", for: 1)
            #expect(claim != nil)
            if place < 1_000 { running.append(claim) }
        }
        #expect(owners.claim("more", for: 1) == nil)
        time.advance(by: memory + .seconds(1))
        for place in 0..<24 { running.append(owners.claim("more \(place)", for: 1)) }
        #expect(!running.contains { $0 == nil })
        #expect(owners.claim("one more", for: 1) == nil)
        #expect(owners.claim("0", for: 2) == nil)
    }

    /// Counts the owners whose requests run.
    private final class Tally: Sendable {
        private let running = Guarded<[Int: Int]>([:])
        private let mixed = Guarded(0)

        var mixedCount: Int { mixed.withLock(\.self) }

        func begin(_ owner: Int) {
            let owners = running.withLock { running in
                running[owner, default: 0] += 1
                return running.values.count { $0 > 0 }
            }
            if owners > 1 { mixed.withLock { $0 += 1 } }
        }

        func end(_ owner: Int) { running.withLock { $0[owner, default: 0] -= 1 } }
    }

    /// Claims and their ends from many threads: at each moment, a place has requests of one owner alone.
    @Test func `two owners never share a place at once`() async {
        let (owners, tally) = (owners(), Tally())
        await withTaskGroup { group in
            for owner in 0..<4 {
                group.addTask { [time, memory] in
                    for _ in 0..<2_000 {
                        if let claim = owners.claim("a", for: owner) {
                            tally.begin(owner)
                            await Task.yield()
                            tally.end(owner)
                            withExtendedLifetime(claim) {}
                        }
                        time.advance(by: memory / 8)
                    }
                }
            }
        }
        #expect(tally.mixedCount == 0)
    }

    /// Regression: from libcurl 8.19 on, which compares user and password, a request went through a tunnel that another
    /// one had opened with a token in a header field.
    @Test func `a tunnel serves only requests with the credentials that opened it`() async throws {
        let ok = Script.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        let server = try ScriptedServer([.readHead, .send("HTTP/1.1 200 OK\r\n\r\n"), .forEachRequest([ok])])
        defer { server.stop() }
        let dispatcher = CurlNetworkDispatcher()
        func send(_ field: String?, user: String? = nil) async throws -> TransportMetrics {
            var proxy = TransportOptions.Proxy.Server(
                server.baseURL, user: user, password: user.map { TransportOptions.Secret("\($0)!") })
            proxy.tunnel = true
            if let field { proxy.headerFields = [try #require(HTTPField.Name("X-Api-Key")): field] }
            var request = try TransportRequest(to: "http://behind.test/")
            request.options.proxy = .explicit(proxy)
            let response = try await dispatcher.send(request)
            #expect(try await response.body.collect() == Data("ok".utf8))
            return response.metrics
        }
        #expect(try await send("tenant-a").connectionReused == false)
        #expect(try await send("tenant-a").connectionReused == true)
        for (field, user) in [("tenant-b", nil), (nil, nil), ("tenant-a", "me"), (nil, "me")] as [(String?, String?)] {
            #expect(try await send(field, user: user).connectionReused == false)
        }
        #expect(try await send("tenant-a").connectionReused == true)
        #expect(server.connectionCount == 5)
        await dispatcher.shutDown(within: .zero)
    }

    /// The tunnel of a running request stays its owner's for however long it runs.
    @Test func `a request holds its claim until it ends`() async throws {
        let gate = Gate()
        let tunnel: Script = [
            .readHead, .send("HTTP/1.1 200 OK\r\n\r\n"), .read, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nx"),
            .wait(until: gate), .send("x"), .stall,
        ]
        let server = try ScriptedServer(tunnel)
        defer { server.stop() }
        let owners = TunnelOwners { [time] in time.now }
        let dispatcher = CurlNetworkDispatcher(
            configuration: .init(), tunnels: owners, logger: Logger(label: "tunnels"))
        func proxy(_ user: String) -> TransportOptions.Proxy.Server {
            var proxy = TransportOptions.Proxy.Server("http://127.0.0.1:\(server.port)", user: user, password: "p")
            proxy.tunnel = true
            return proxy
        }
        var request = try TransportRequest(to: "http://behind.test/")
        request.options.proxy.choice = .explicit(proxy("one"))
        let response = try await dispatcher.send(request)
        time.advance(by: .seconds(86_400))
        #expect(owners.claim(for: proxy("two")) == nil)
        gate.open()
        #expect(try await response.body.collect().count == 2)
        await dispatcher.shutDown(within: .zero)
        time.advance(by: .seconds(86_400))
        #expect(owners.claim(for: proxy("two")) != nil)
    }
}
