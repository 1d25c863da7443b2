import Foundation
import NetworkLayer
import NetworkLayerTutorials
import NetworkTesting
import TestSupport
import Testing

/// Runs the tutorials' code, unchanged except for the import, against a server at its address.
@Suite(
    .patience(minutes: 1), .serialized,
    .enabled("needs the tutorials' port 3000 to be free") { await TutorialServer.canStart() })
struct TutorialTests {
    private static let dispatchers: [any NetworkDispatcher] = [
        CurlNetworkDispatcher.instance, URLSessionNetworkDispatcher.instance, TutorialDispatcher.instance,
    ]

    @Test(arguments: dispatchers)
    func `the tutorial's request gets a response`(dispatcher: any NetworkDispatcher) async throws {
        let server = try await TutorialServer.start()
        let rows = try await withCheckedThrowingContinuation { continuation in
            GetAllSampleData().execute(
                dispatcher: dispatcher,
                onSuccess: { (users: [SampleData]) in
                    continuation.resume(returning: users)
                },
                onError: { (error: Error) in
                    continuation.resume(throwing: error)
                }
            )
        }
        #expect(rows.map(\.dataField1) == ["1", "2", "3"])
        #expect(rows.map(\.dataField2) == ["1", "2", "3"])
        await server.stop()
    }

    @Test(arguments: dispatchers)
    func `the tutorial's service gets a response`(dispatcher: any NetworkDispatcher) async throws {
        let server = try await TutorialServer.start()
        #expect(try await GetAllSampleDataService().send(over: dispatcher).body.count == 3)
        await server.stop()
    }

    @Test func `the tutorial's call needs no dispatcher`() async throws {
        let server = try await TutorialServer.start()
        let rows = try await withCheckedThrowingContinuation { continuation in
            GetAllSampleData().execute(
                onSuccess: { (users: [SampleData]) in
                    continuation.resume(returning: users)
                },
                onError: { (error: Error) in
                    continuation.resume(throwing: error)
                }
            )
        }
        #expect(rows.count == 3)
        await server.stop()
    }

    @Test(arguments: dispatchers)
    func `an unreachable server is an error`(dispatcher: any NetworkDispatcher) async throws {
        let server = try await TutorialServer.start()
        await server.stop()
        await #expect(throws: (any Error).self) { _ = try await GetAllSampleData().send(over: dispatcher).body }
    }
}

/// The server of the tutorials: the demo server on port 3000.
enum TutorialServer {
    static func canStart() async -> Bool {
        guard let server = try? await start() else { return false }
        await server.stop()
        return true
    }

    static func start() async throws -> DemoServer {
        let server = DemoServer(port: 3000)
        try await server.start()
        return server
    }
}
