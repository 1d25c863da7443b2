import Foundation
import NetworkCore
import NetworkTesting
import TestSupport
import Testing

@testable import CurlTransport

@Suite("Descriptors", .patience(minutes: 1))
struct DescriptorTests {
    /// libcurl opens the connections of its lookups over HTTPS without the transport's socket callback.
    @Test(.enabled(if: looksUpOverHTTPS))
    func `no program inherits a connection`() async {
        await #expect(processExitsWith: .success) {
            func sockets(besides names: ScriptedServer) throws -> Set<Int32> {
                let connected = try OwnSockets.descriptors()
                    .filter { SocketName.localPort(of: $0).map { $0 > 0 && $0 != Int(names.port) } == true }
                return Set(connected)
            }
            let names = try ScriptedServer([.stall])
            // Sockets that this process inherited from the test run.
            let others = try sockets(besides: names)
            let dispatcher = CurlNetworkDispatcher()
            let request = Task {
                try await OptionExchange("http://unknown.example/", over: dispatcher) {
                    $0.names.dnsOverHTTPS = "https://127.0.0.1:\(names.port)/dns-query"
                }
            }
            try await names.wait { $0.connectionCount > 0 }
            let own = try sockets(besides: names).subtracting(others)
            #expect(!own.isEmpty)
            // The connection exists a moment before libcurl reports it.
            let end = ContinuousClock.now + .seconds(10)
            while own.contains(where: { fcntl($0, F_GETFD) & FD_CLOEXEC == 0 }), end > .now { await Task.yield() }
            #expect(own.allSatisfy { fcntl($0, F_GETFD) & FD_CLOEXEC != 0 })
            request.cancel()
            _ = try? await request.value
        }
    }

    /// Runs in a process of its own, which has no descriptors left for a while.
    @Test func `exhausted descriptors are an error, and pass`() async {
        await #expect(processExitsWith: .success) {
            let server = try ScriptedServer(.ok("ok"))
            var request = TransportRequest(url: try RequestURL(server.url()))
            request.options.totalTimeout = .seconds(20)
            request.options.connection.isFresh = true
            let dispatcher = CurlNetworkDispatcher()
            #expect(try await dispatcher.send(request).body.collect() == Data("ok".utf8))

            // RLIMIT_NOFILE, whose default may be a million.
            var limit = rlimit(rlim_cur: 256, rlim_max: 256)
            #expect(setrlimit(__rlimit_resource_t(7), &limit) == 0)
            var taken: [FileHandle] = []
            while let handle = FileHandle(forReadingAtPath: "/dev/null") { taken.append(handle) }
            for _ in 0..<10 {
                let error = await #expect(throws: NetworkError.self) { try await dispatcher.send(request) }
                #expect(error?.code == .connectFailed, "\(String(describing: error))")
            }
            // A new dispatcher can't start either, since it needs descriptors of its own.
            let error = await #expect(throws: NetworkError.self) { try await CurlNetworkDispatcher().send(request) }
            #expect(error?.code == .unclassified, "\(String(describing: error))")

            for handle in taken { try handle.close() }
            #expect(try await dispatcher.send(request).body.collect() == Data("ok".utf8))
        }
    }
}
