import Foundation
import NetworkCore
import NetworkTesting
import Testing

@testable import CurlTransport

/// Bytes that wait on a kept connection answer no request, and the next one does not take them for its response.
@Suite(
    "Surplus bytes on kept connections", .timeLimit(.minutes(1)),
    .enabled(if: Libcurl.found.has(.requestCheck), "told from libcurl 7.80 on"))
struct SurplusTests {
    private let dispatcher = CurlNetworkDispatcher()
    private static let forged = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"

    private static func answer(_ text: String) -> String {
        "HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)"
    }

    /// Answers, and sends a response that belongs to no request once the gate is open; then says so by another.
    private static func surplus(after gate: Gate, sent: Gate) -> Script {
        [.read, .send(answer("first")), .wait(until: gate), .send(forged), .open(sent), .read, .send(answer("late"))]
    }

    private func get(
        _ url: String, _ change: (inout TransportOptions) -> Void = { _ in }
    ) async throws -> (text: String, port: Int?) {
        var request = TransportRequest(url: try RequestURL(url))
        request.options.totalTimeout = .seconds(30)
        change(&request.options)
        let response = try await dispatcher.send(request)
        let text = String(decoding: try await response.body.collect(), as: UTF8.self)
        return (text, response.metrics.localAddress.flatMap { $0.split(separator: ":").last.flatMap { Int($0) } })
    }

    /// Linux gives one port to connections with different destinations.
    @Test(arguments: [false, true])
    func connectionsFromOnePortAreToldApart(isShared: Bool) async throws {
        let (gate, sent) = (Gate(), Gate())
        let server = try ScriptedServer(Self.surplus(after: gate, sent: sent), .ok("honest"))
        let other = try ScriptedServer(.ok("other"))
        defer { for server in [server, other] { server.stop() } }
        let port = try #require(try await get(server.url()).port)
        if isShared, try await !isAnswered(by: other, fromPort: port) {
            // The port is another program's at that address: all of it once more, from another.
            return try await connectionsFromOnePortAreToldApart(isShared: true)
        }
        gate.open()
        try await sent.wait()
        #expect(try await get(server.url()).text == "honest")
    }

    private func isAnswered(by other: ScriptedServer, fromPort port: Int) async throws -> Bool {
        do {
            let answer = try await get(other.url()) {
                $0.connection.interface = "127.0.0.2"
                $0.connection.localPorts = port...port
            }
            return answer.text == "other" && answer.port == port
        } catch let error as NetworkError where error.code == .connectFailed {
            return false
        }
    }

    @Test func aUnixSocketIsLookedAt() async throws {
        let path = "/tmp/networklayer-\(UUID()).socket"
        let server = try UnixServer(path, isAbstract: false)
        defer { server.stop() }
        let unix: (inout TransportOptions) -> Void = { $0.connection.unixSocket = .path(path) }
        #expect(try await get("http://unix.test/", unix).text == "unix")
        server.sendSurplus(Self.forged)
        #expect(try await get("http://unix.test/", unix).text == "unix")
        #expect(server.connectionCount == 2)
    }
}
