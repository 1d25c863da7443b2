import Foundation
import NetworkLayer
import NetworkRollout
import NetworkTesting
import TestSupport
import Testing

/// A shadow and a canary over the real transports.
@Suite(.patience(minutes: 1))
struct RolloutTests {
    private func shadowed(_ reports: @escaping @Sendable (ShadowTransport.Difference) -> Void) -> ShadowTransport {
        var options = ShadowTransport.Options()
        (options.share, options.maximumLoad, options.maximumConcurrent) = (1, 1, .max)
        return ShadowTransport(
            primary: CurlNetworkDispatcher.shared, shadow: URLSessionNetworkDispatcher.shared, options: options,
            onDifference: reports)
    }

    @Test func `what both transports receive is the same, and reaches the server twice`() async throws {
        let server = try ScriptedServer(.ok("hello"))
        defer { server.stop() }
        let transport = shadowed { _ in }
        let client = NetworkClient(transport: transport)
        for _ in 0..<10 {
            let response = try await client.send(RequestData(path: server.url("/")), as: .text)
            #expect(response.body == "hello")
            // The metrics are those of the primary.
            #expect(response.metrics.remoteAddress != nil)
        }
        await transport.waitForShadows()
        // URLSession sorts the fields.
        let counts = transport.counts
        #expect(counts.same + counts.knownDifferences == 10 && counts.differences == 0, "\(counts)")
        #expect(server.requests.count == 20)
    }

    @Test func `a known fault of the shadow is known, and harms no response`() async throws {
        let head = Data("HTTP/1.1 200 OK\r\nX-".utf8) + [0xE9] + Data(": 1\r\nContent-Length: 2\r\n\r\nok".utf8)
        let server = try ScriptedServer([.forEachRequest([.send(head)])])
        defer { server.stop() }
        let (stream, differences) = AsyncStream<ShadowTransport.Difference>.makeStream()
        let transport = shadowed { differences.yield($0) }
        let response = try await NetworkClient(transport: transport).send(
            RequestData(path: server.url("/")), as: .text)
        #expect(response.body == "ok")
        await transport.waitForShadows()
        differences.finish()
        let found = await stream.reduce(into: []) { $0.append($1) }
        #expect(found.first?.places.map(\.known) == ["headOfOddBytes"])
        #expect(transport.counts.knownDifferences == 1)
    }

    @Test func `a canary that can't read a server's responses is dropped`() async throws {
        let head = Data("HTTP/1.1 200 OK\r\nX-".utf8) + [0xE9] + Data(": 1\r\nContent-Length: 2\r\n\r\nok".utf8)
        let server = try ScriptedServer([.forEachRequest([.send(head)])])
        defer { server.stop() }
        var options = CanaryTransport.Options()
        options.share = 0.5
        let transport = CanaryTransport(
            primary: CurlNetworkDispatcher.shared, canary: URLSessionNetworkDispatcher.shared, options: options,
            onReturn: { _ in })
        let client = NetworkClient(transport: transport)
        var failures = 0
        for _ in 0..<200 {
            do { _ = try await client.send(RequestData(path: server.url("/")), as: .text) } catch { failures += 1 }
        }
        #expect(transport.returned?.reason == .failures)
        #expect(failures == transport.returned?.counts.canaryFailures)
    }
}
