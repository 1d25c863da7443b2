import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

/// The kinds of connection of a loop.
@Suite("Pools", .patience(minutes: 1))
struct PoolTests {
    private static func dispatcher(limit: Int) -> CurlNetworkDispatcher {
        CurlNetworkDispatcher { $0.maximumConnections = limit }
    }

    /// A request of a kind of its own.
    private static func get(_ url: String, kind: Int, over dispatcher: CurlNetworkDispatcher) async throws -> String {
        try await Exchange(url, over: dispatcher) { $0.connection.interface = "127.0.0.\(kind + 2)" }.text
    }

    private static let fast: Script = [.forEachRequest([.ok("x")])]

    private static func slow(_ gate: Gate) -> Script { [.read, .wait(until: gate), .ok("x"), .stall] }

    /// Each pool takes descriptors besides its connections.
    @Test func `a request waits while as many kinds run as there may be`() async throws {
        #expect(LoopLimits(CurlNetworkDispatcher.Configuration()).pools >= 4)
        let (dispatcher, gate, kinds) = (Self.dispatcher(limit: 20), Gate(), 4)
        try await withServer(Self.slow(gate)) { server in
            try await withThrowingTaskGroup(of: String.self) { group in
                for kind in 0..<kinds {
                    group.addTask { try await Self.get(server.url(), kind: kind, over: dispatcher) }
                }
                try await server.wait { $0.requests.count == kinds }
                for kind in kinds..<(kinds + 3) {
                    group.addTask { try await Self.get(server.url(), kind: kind, over: dispatcher) }
                }
                while await dispatcher.statistics.connections.running < kinds + 3 { await Task.yield() }
                #expect(server.requests.count == kinds)
                // One of a kind that runs need not wait.
                group.addTask { try await Self.get(server.url("/last"), kind: 0, over: dispatcher) }
                try await server.wait { $0.requests.count > kinds }
                gate.open()
                for try await text in group { #expect(text == "x") }
            }
            #expect(server.requests.count == kinds + 4)
            await dispatcher.shutDown(within: .zero)
        }
    }

    @Test func `connections of all kinds together are no more than the limit`() async throws {
        let dispatcher = Self.dispatcher(limit: 2)
        try await withServer(Self.fast) { server async throws in
            for kind in [0, 1, 2, 3, 0, 1] {
                // The loop looks after each round; another request makes one.
                for _ in 0..<2 { #expect(try await Self.get(server.url(), kind: kind, over: dispatcher) == "x") }
                #expect(try OwnSockets.connected(to: [Int(server.port)]).count <= 2)
            }
            await dispatcher.shutDown(within: .zero)
        }
    }

    /// From libcurl 8.1 on, one handle carries all of these.
    @Test func `each request goes out with its own path and fields alone`() async throws {
        let dispatcher = Self.dispatcher(limit: 20)
        try await withServer(Self.fast) { server in
            let requests: [(path: String, fields: HTTPFields)] = [
                ("/a?b=1", [:]), ("/a", [.authorization: "Bearer t", .cookie: "c=1"]), ("/%41?%62", [:]), ("/a?", [:]),
                ("/", [.acceptLanguage: "de"]), ("/", [.acceptLanguage: "DE"]),
                ("/", [HTTPField.Name("aCCEPT-lANGUAGE")!: "DE"]), ("/b", [:]),
            ]
            var alone: [[String]] = []
            for (path, fields) in requests {
                let request = try makeRequest(server.url(path), fields: fields)
                alone.append(request.wireFields.map { "\($0.name.rawName): \($0.value)" }.sorted())
                #expect(try await dispatcher.send(request).body.collect() == Data("x".utf8))
            }
            let seen = server.requests.map { $0.headerLines.filter { !$0.hasPrefix("Host:") }.sorted() }
            #expect(seen == alone)
            #expect(server.connectionCount == 1)
            let targets = server.requests.map(\.target)
            #expect(targets[0] == "/a?b=1" && targets[1] == "/a" && targets[2] == "/%41?%62" && targets.last == "/b")
            await dispatcher.shutDown(within: .zero)
        }
    }

    /// Regression: one slow transfer in each pool let requests to new origins wait until they failed.
    @Test func `a new origin finds a place while every pool is busy`() async throws {
        let (dispatcher, gate) = (Self.dispatcher(limit: 32), Gate())
        let server = try ScriptedServer(Self.fast)
        let slow = try ScriptedServer(Self.slow(gate))
        defer { for server in [server, slow] { server.stop() } }
        @Sendable func get(_ origin: Int, from server: ScriptedServer) async throws -> String {
            // libcurl itself has the address of such names.
            try await Exchange("http://o\(origin).localhost:\(server.port)/", over: dispatcher).text
        }
        // An eighth of the connections.
        let pools = 4
        try await withThrowingTaskGroup(of: String.self) { group in
            for pool in 0..<pools {
                group.addTask { try await get(pool, from: slow) }
                try await slow.wait { $0.requests.count == pool + 1 }
                for origin in 1..<Pool.maximumOrigins {
                    _ = try await get(pool * Pool.maximumOrigins + origin, from: server)
                }
            }
            #expect(try await get(-1, from: server) == "x")
            gate.open()
            for try await text in group { #expect(text == "x") }
        }
        await dispatcher.shutDown(within: .zero)
    }

    /// Regression: a pool with a transfer is not closed, and such ones kept three times the limit.
    @Test func `busy pools keep no connections above the limit`() async throws {
        let (limit, kinds, gate) = (8, 4, Gate())
        let dispatcher = Self.dispatcher(limit: limit)
        let server = try ScriptedServer(Self.fast)
        let slow = try ScriptedServer(Self.slow(gate))
        defer { for server in [server, slow] { server.stop() } }
        async let busy = atOnce(kinds) { try await Self.get(slow.url(), kind: $0, over: dispatcher) }
        try await slow.wait { $0.requests.count == kinds }
        for kind in 0..<kinds {
            let texts = try await atOnce(limit) { _ in try await Self.get(server.url(), kind: kind, over: dispatcher) }
            #expect(texts.allSatisfy { $0 == "x" })
        }
        // Each kind may have one that was in use when the limit was passed.
        #expect(try OwnSockets.connected(to: [Int(server.port), Int(slow.port)]).count <= limit + kinds)
        gate.open()
        #expect(try await busy.allSatisfy { $0 == "x" })
        await dispatcher.shutDown(within: .zero)
    }

    // MARK: The limit of connections

    /// Regression: idle connections to a thousand origins took as many descriptors as all running requests may.
    @Test(arguments: [1, 6])
    func `running requests and kept connections are no more than the limit`(limit: Int) async throws {
        let dispatcher = Self.dispatcher(limit: limit)
        var servers: [ScriptedServer] = []
        defer { for server in servers { server.stop() } }
        func connections() throws -> Int { try OwnSockets.connected(to: Set(servers.map { Int($0.port) })).count }
        for _ in 0..<4 {
            let (gates, goesOn) = ((0..<limit).map { _ in Gate() }, Gate())
            let wave = try gates.map {
                try ScriptedServer([.read, .open($0), .wait(until: goesOn), .ok(), .stall])
            }
            servers += wave
            async let exchanges = atOnce(limit) { try await Exchange(wave[$0].url(), over: dispatcher).status }
            for gate in gates { try await gate.wait() }
            // All run, next to what is kept of the earlier ones.
            let running = try connections()
            #expect(running == limit)
            goesOn.open()
            _ = try await exchanges
            let kept = try connections()
            #expect(kept == limit)
        }
        // The latest ones are kept.
        #expect(servers.last?.connectionCount == 1)
        await dispatcher.shutDown(within: .seconds(5))
    }

    @Test func `loops share the limit`() {
        var configuration = CurlNetworkDispatcher.Configuration()
        (configuration.maximumConnections, configuration.loops) = (10, 3)
        #expect(LoopLimits(configuration).ofOneLoop.inAll == 3)
        configuration.loops = 64
        #expect(LoopLimits(configuration).ofOneLoop.inAll == 1)
    }
}
