import Foundation
import TestSupport
import Testing

@testable import NetworkTesting

/// Checks that the demo server survives any number in a request.
@Suite("The demo server", .patience(minutes: 2))
struct DemoServerTests {
    fileprivate static func serving(_ work: (DemoServer) async throws -> Void) async throws {
        let server = DemoServer()
        try await server.start()
        do {
            try await work(server)
            let response = try await RawClient.exchange(request("/test"), port: server.port)
            #expect(response.hasPrefix("HTTP/1.1 200"))
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    private static func request(_ target: String, _ fields: String = "", body: String = "") -> String {
        "POST \(target) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\(fields)\r\n\(body)"
    }

    @Test
    func `a stopped server has closed all its descriptors`() async {
        // In a process of its own: other tests have sockets too.
        await #expect(processExitsWith: .success) {
            func count() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
                    let path = "/proc/self/fd/\(name)"
                    let kind = try? FileManager.default.destinationOfSymbolicLink(atPath: path)
                    return kind?.hasPrefix("socket:") == true
                }
            }
            try await DemoServerTests.serving { _ in }
            let before = try count()
            for _ in 0..<200 { try await DemoServerTests.serving { _ in } }
            #expect(try count() <= before)
        }
    }

    @Test
    func `a server can start and stop repeatedly, and stop without a start`() async throws {
        let server = DemoServer()
        await server.stop()
        for _ in 0..<3 {
            try await server.start()
            let response = try await RawClient.exchange(Self.request("/test"), port: server.port)
            #expect(response.hasPrefix("HTTP/1.1 200"))
            await server.stop()
        }
    }

    /// Regression: a start after a failure could find the server that had ended, and did nothing.
    @Test
    func `a server that has ended by itself can be started again at once`() async throws {
        let server = DemoServer()
        for _ in 0..<20 {
            try await server.start()
            let response = try await RawClient.exchange(Self.request("/test"), port: server.port)
            #expect(response.hasPrefix("HTTP/1.1 200"))
            server.end()
            await server.waitUntilStopped()
            #expect(server.port == 0)
        }
        await server.stop()
    }

    /// Regression: nothing stopped a server that was no longer held.
    @Test
    func `a server that is dropped stops`() async throws {
        func connection() async throws -> LoopbackSocket {
            let server = DemoServer()
            try await server.start()
            let (socket, isConnected) = try LoopbackSocket.connecting(to: server.port, limit: 10_000)
            #expect(isConnected && !socket.isEndedByPeer)
            withExtendedLifetime(server) {}
            return socket
        }
        let socket = try await connection()
        defer { socket.close() }
        while !socket.isEndedByPeer, !Task.isCancelled { await Task.yield() }
        #expect(socket.isEndedByPeer)
    }

    @Test
    func `stopping a server closes its open connections`() async throws {
        let server = DemoServer()
        try await server.start()
        // This request's response would take a minute.
        let port = server.port
        async let waiting = RawClient.exchange(Self.request("/delay/10000"), port: port)
        async let quick = RawClient.exchange(Self.request("/test"), port: port)
        #expect(try await quick.hasPrefix("HTTP/1.1 200"))
        await server.stop()
        #expect(try await !waiting.hasPrefix("HTTP/1.1 200"))
    }

    /// Regression: a wanted port was tried on 127.0.0.1, whatever the host.
    @Test func `a wanted port is tried on the host that the server listens on`() async throws {
        let other = try ScriptedServer(.ok())
        defer { other.stop() }
        let server = DemoServer(port: other.port, host: "127.0.0.2")
        try await server.start()
        #expect(server.baseURL == "http://127.0.0.2:\(other.port)")
        let second = DemoServer(port: other.port, host: "127.0.0.2")
        let failure = await #expect(throws: SocketFailure.self) { try await second.start() }
        #expect(failure?.operation == "listen on 127.0.0.2:\(other.port)")
        let third = DemoServer(port: other.port)
        await #expect(throws: SocketFailure.self) { try await third.start() }
        await server.stop()
        for host in ["127.0.0.300", "localhost", ""] {
            await #expect(throws: (any Error).self) { try await DemoServer(port: 1, host: host).start() }
        }
    }

    @Test
    func `a posted user comes back with an id, and anything else gets a 400`() async throws {
        try await Self.serving { server in
            for (body, status, words) in [
                (#"{"name":"Ada","tags":["new"]}"#, 201, #"{"id":4,"name":"Ada","tags":["new"]}"#), ("[1]", 400, ""),
                ("", 400, ""), ("{", 400, ""),
            ] {
                let request = Self.request("/users", "Content-Length: \(body.utf8.count)\r\n", body: body)
                let response = try await RawClient.exchange(request, port: server.port)
                #expect(response.hasPrefix("HTTP/1.1 \(status) "), "\(response)")
                #expect(words.isEmpty || response.contains(words), "\(response)")
            }
            let list = try await RawClient.exchange(
                "GET /users HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", port: server.port)
            #expect(list.hasPrefix("HTTP/1.1 200") && list.contains("Brendan"))
        }
    }

    @Test
    func `requests share a connection until one of them closes it`() async throws {
        try await Self.serving { server in
            let requests = [
                "HEAD /bytes/100 HTTP/1.1\r\nHost: h\r\n\r\n",
                "POST /nope HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc",
                "POST /upload HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
                "PUT /upload HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nabcde",
                "GET /status/204 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
                "DELETE /upload HTTP/1.1\r\nConnection: close\r\n\r\n", "GET /test HTTP/1.1\r\n\r\n",
            ]
            let digest = #"{"bytes":5,"sha256":"36bbe50ed96841d10443bcb670d6554f0a34b761be67ec9c4a8ad2c0c44ca42c"}"#
            let json = "Content-Type: application/json\r\nContent-Length:"
            let expected = [
                "200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: 100\r\n\r\n",
                #"404 Not Found\#r\#n\#(json) 30\#r\#n\#r\#n{"error":"no route for /nope"}"#,
                "200 OK\r\n\(json) 87\r\n\r\n\(digest)", "100 Continue\r\n\r\n",
                "200 OK\r\n\(json) 87\r\n\r\n\(digest)",
                "204 No Content\r\nConnection: keep-alive\r\n\r\n",
                #"405 Method Not Allowed\#r\#n\#(json) 42\#r\#nConnection: close\#r\#n\#r\#n"#
                    + #"{"error":"/upload takes POST, PUT, PATCH"}"#,
            ]
            let received = try await RawClient.exchange(requests.joined(), port: server.port)
            #expect(received == expected.map { "HTTP/1.1 \($0)" }.joined())
        }
    }

    @Test
    func `a body that is too large to be held gets a 413`() async throws {
        try await Self.serving { server in
            let size = DemoRequest.maximumBodyBytes + 1
            let body = String(repeating: "a", count: size)
            let request = Self.request("/echo", "Content-Length: \(size)\r\n", body: body)
            let response = try await RawClient.exchange(request, port: server.port)
            #expect(response.hasPrefix("HTTP/1.1 413 "))
        }
    }

    @Test
    func `a number in a path is within its range or gets a 400`() async throws {
        try await Self.serving { server in
            for route in ["/status/", "/delay/", "/bytes/", "/events/", "/redirect/"] {
                for number in HostileNumber.all where !number.isEmpty && !number.contains(" ") {
                    let target = route + (number.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? "")
                    let response = try await RawClient.exchange(Self.request(target), port: server.port)
                    let statuses = ["400", "200", "204", "302"]
                    #expect(statuses.contains { response.hasPrefix("HTTP/1.1 \($0)") }, "\(target): \(response)")
                }
            }
        }
    }

    @Test
    func `no number in a header field or in the framing of a body ends the server`() async throws {
        try await Self.serving { server in
            for number in HostileNumber.all {
                for target in ["/events/10", "/upload", "/echo", "/test"] {
                    for field in ["Last-Event-ID", "Content-Length", "Range"] {
                        let request = Self.request(target, "\(field): \(number)\r\n", body: "abc")
                        _ = try await RawClient.exchange(request, port: server.port)
                    }
                    let chunked = Self.request(
                        target, "Transfer-Encoding: chunked\r\n", body: "\(number)\r\nabc\r\n0\r\n\r\n")
                    _ = try await RawClient.exchange(chunked, port: server.port)
                }
            }
        }
    }

    @Test(arguments: [
        ("0", [1, 2, 3]), ("8", [9, 10]), ("10", []), ("11", []), ("\(Int.max)", []), ("\(Int.min)", [1, 2, 3]),
        ("-5", [1, 2, 3]), ("abc", [1, 2, 3]), ("9223372036854775808", [1, 2, 3]),
    ])
    func `a stream of events resumes after the last id, and restarts after an invalid one`(
        after id: String, are expected: [Int]
    ) async throws {
        try await Self.serving { server in
            let request = Self.request("/events/10", "Last-Event-ID: \(id)\r\n")
            let response = try await RawClient.exchange(request, port: server.port)
            #expect(response.hasPrefix("HTTP/1.1 \(expected.isEmpty ? 204 : 200)"), "\(response)")
            let ids = response.split(separator: "\n").compactMap { $0.hasPrefix("id: ") ? Int($0.dropFirst(4)) : nil }
            #expect(ids == expected)
        }
    }

    /// Regression: each of them started a server, and one was never stopped.
    @Test func `starts at the same time are one`() async throws {
        let server = DemoServer()
        try await withThrowingTaskGroup { group in
            for _ in 0..<8 { group.addTask { try await server.start() } }
            try await group.waitForAll()
        }
        let port = server.port
        await server.stop()
        let (socket, _) = try LoopbackSocket.connecting(to: port, limit: 1_000)
        #expect(!socket.send(Data("x".utf8)))
        socket.close()
        try await server.start()
        await server.stop()
    }
}
