import Foundation
import HTTPTypes
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

/// The kinds of connection of a loop.
@Suite("Pools", .patience(minutes: 1))
struct PoolTests {
    private static func dispatcher(limit: Int) -> CurlNetworkDispatcher {
        var configuration = CurlNetworkDispatcher.Configuration()
        configuration.maximumConnections = limit
        return CurlNetworkDispatcher(configuration: configuration)
    }

    /// A request of a kind of its own.
    private static func get(
        _ url: String, kind: Int, over dispatcher: CurlNetworkDispatcher
    ) async throws -> OptionExchange {
        try await OptionExchange(url, over: dispatcher) {
            $0.connection.interface = "127.0.0.\(kind + 2)"
            $0.totalTimeout = .seconds(50)
        }
    }

    private static let response = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"

    /// Each pool takes descriptors besides its connections.
    @Test func `a request waits while as many kinds run as there may be`() async throws {
        #expect(LoopLimits(CurlNetworkDispatcher.Configuration()).pools >= 4)
        let dispatcher = Self.dispatcher(limit: 20)
        let gate = Gate()
        try await withServer([.read, .wait(until: gate), .send(Self.response), .stall]) { server in
            let kinds = 4
            try await withThrowingTaskGroup(of: String.self) { group in
                for kind in 0..<(kinds + 3) {
                    group.addTask { try await Self.get(server.url(), kind: kind, over: dispatcher).text }
                }
                try await server.wait { $0.requests.count == kinds }
                // The loop has seen the others, too: this one is of a kind that runs.
                group.addTask { try await Self.get(server.url("/last"), kind: 0, over: dispatcher).text }
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
        let server = try ScriptedServer([.forEachRequest([.send(Self.response)])])
        defer { server.stop() }
        for kind in [0, 1, 2, 3, 0, 1] {
            #expect(try await Self.get(server.url(), kind: kind, over: dispatcher).text == "x")
            // The loop looks after each round; another request makes one.
            _ = try await Self.get(server.url(), kind: kind, over: dispatcher)
            #expect(try OwnSockets.connected(to: [Int(server.port)]).count <= 2)
        }
        await dispatcher.shutDown(within: .zero)
    }

    /// From libcurl 8.1 on, one handle carries all of these.
    @Test func `each request goes out with its own path and fields alone`() async throws {
        let dispatcher = Self.dispatcher(limit: 20)
        try await withServer([.forEachRequest([.send(Self.response)])]) { server in
            let requests: [(path: String, fields: HTTPFields)] = [
                ("/a?b=1", [:]), ("/a", [.authorization: "Bearer t", .cookie: "c=1"]), ("/%41?%62", [:]), ("/a?", [:]),
                ("/", [.acceptLanguage: "de"]), ("/", [.acceptLanguage: "DE"]),
                ("/", [HTTPField.Name("aCCEPT-lANGUAGE")!: "DE"]),
                ("/b", [:]),
            ]
            for (path, fields) in requests {
                var request = TransportRequest(url: try RequestURL(server.url(path)), headerFields: fields)
                request.options.totalTimeout = .seconds(50)
                #expect(try await dispatcher.send(request).body.collect() == Data("x".utf8))
            }
            let alone = try requests.map { path, fields in
                var request = TransportRequest(url: try RequestURL(server.url(path)), headerFields: fields)
                request.options.totalTimeout = .seconds(50)
                return request.wireFields.map { "\($0.name.rawName): \($0.value)" }.sorted()
            }
            let seen = server.requests.map { request in
                request.head.split(separator: "\r\n").dropFirst().map(String.init).filter { !$0.hasPrefix("Host:") }
                    .sorted()
            }
            #expect(seen == alone)
            #expect(server.connectionCount == 1)
            let targets = server.requests.map { $0.head.split(separator: " ")[1] }
            #expect(targets[0] == "/a?b=1" && targets[1] == "/a" && targets[2] == "/%41?%62" && targets.last == "/b")
            await dispatcher.shutDown(within: .zero)
        }
    }

    /// Regression: one slow transfer in each pool let requests to new origins wait until they failed.
    @Test func `a new origin finds a place while every pool is busy`() async throws {
        let dispatcher = Self.dispatcher(limit: 32)
        let gate = Gate()
        let server = try ScriptedServer([.forEachRequest([.send(Self.response)])])
        let slow = try ScriptedServer([.read, .wait(until: gate), .send(Self.response), .stall])
        defer {
            server.stop()
            slow.stop()
        }
        @Sendable func get(_ origin: Int, from server: ScriptedServer) async throws -> Data {
            // libcurl itself has the address of such names.
            var request = TransportRequest(url: try RequestURL("http://o\(origin).localhost:\(server.port)/"))
            request.options.totalTimeout = .seconds(50)
            return try await dispatcher.send(request).body.collect()
        }
        // An eighth of the connections.
        let pools = 4
        try await withThrowingTaskGroup(of: Data.self) { group in
            for pool in 0..<pools {
                group.addTask { try await get(pool, from: slow) }
                try await slow.wait { $0.requests.count == pool + 1 }
                for origin in 1..<Pool.maximumOrigins {
                    _ = try await get(pool * Pool.maximumOrigins + origin, from: server)
                }
            }
            #expect(try await get(-1, from: server) == Data("x".utf8))
            gate.open()
            for try await body in group { #expect(body == Data("x".utf8)) }
        }
        await dispatcher.shutDown(within: .zero)
    }

    /// Regression: a pool with a transfer is not closed, and such ones kept three times the limit.
    @Test func `busy pools keep no connections above the limit`() async throws {
        let limit = 8
        let dispatcher = Self.dispatcher(limit: limit)
        let gate = Gate()
        let server = try ScriptedServer([.forEachRequest([.send(Self.response)])])
        let slow = try ScriptedServer([.read, .wait(until: gate), .send(Self.response), .stall])
        defer {
            server.stop()
            slow.stop()
        }
        let kinds = 4
        try await withThrowingTaskGroup(of: String.self) { group in
            for kind in 0..<kinds {
                group.addTask { try await Self.get(slow.url(), kind: kind, over: dispatcher).text }
            }
            try await slow.wait { $0.requests.count == kinds }
            for kind in 0..<kinds {
                try await withThrowingTaskGroup(of: String.self) { burst in
                    for _ in 0..<limit {
                        burst.addTask { try await Self.get(server.url(), kind: kind, over: dispatcher).text }
                    }
                    for try await text in burst { #expect(text == "x") }
                }
            }
            // Each kind may have one that was in use when the limit was passed.
            #expect(try OwnSockets.connected(to: [Int(server.port), Int(slow.port)]).count <= limit + kinds)
            gate.open()
            for try await text in group { #expect(text == "x") }
        }
        await dispatcher.shutDown(within: .zero)
    }
}
