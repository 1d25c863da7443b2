import Foundation
import NetworkCore
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing
import Synchronization

/// A caller whose task is cancelled receives Swift's own error from every verb and every sequence.
@Suite(.patience(minutes: 1))
struct CancellationErrorContract {
    /// A verb, and how its result is read to the end.
    enum Verb: CaseIterable, Sendable {
        case dataForm, textForm, decodedForm, fileForm, typed
        case stream, collected, lines, jsonLines, events

        func run(_ client: NetworkClient, _ url: String) async throws {
            let request = RequestData(path: url)
            switch self {
            case .dataForm: _ = try await client.send(request, as: .data)
            case .textForm: _ = try await client.send(request, as: .text)
            case .decodedForm: _ = try await client.send(request, as: [Int].self)
            case .fileForm:
                let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                defer { try? FileManager.default.removeItem(at: folder) }
                _ = try await client.send(request, as: .file(folder.appending(path: "file").path))
            case .typed: _ = try await client.send(Numbers(url: url))
            case .stream: for try await _ in try await client.send(request, as: .stream).body {}
            case .collected: _ = try await client.send(request, as: .stream).body.collect()
            case .lines: for try await _ in try await client.send(request, as: .lines).body {}
            case .jsonLines: for try await _ in try await client.send(request, as: .jsonLines(of: Int.self)).body {}
            case .events: for try await _ in try await client.send(request, as: .events).body {}
            }
        }
    }

    private struct Numbers: RequestType {
        typealias ResponseType = [Int]
        let url: String
        var data: RequestData { RequestData(path: url) }
    }

    /// How far the response has come when the task is cancelled.
    enum Moment: CaseIterable, Sendable { case beforeTheHead, inTheBody }

    @Test(arguments: ContractTransport.all, Verb.allCases)
    func `a cancelled caller receives CancellationError`(transport: ContractTransport, verb: Verb) async throws {
        for moment in Moment.allCases {
            let isThere = Gate()
            let type = verb == .events ? "text/event-stream" : "text/plain"
            let head = Script.head(200, fields: [("Content-Length", "1000"), ("Content-Type", type)])
            let script: Script =
                moment == .beforeTheHead
                ? [.read, .open(isThere), .stall] : [.read, .send(head + Data("1\n".utf8)), .open(isThere), .stall]
            let server = try ScriptedServer(script)
            defer { server.stop() }
            let client = transport.client.with { $0.interceptors.append(.adapting { _ in }) }
            let task = Task { try await verb.run(client, server.url()) }
            try await isThere.wait()
            task.cancel()
            await #expect(throws: CancellationError.self, "\(moment)") { try await task.value }
        }
    }

    @Test(arguments: ContractTransport.all)
    func `the code matches it, and interceptors see the code`(transport: ContractTransport) async throws {
        let isThere = Gate()
        let server = try ScriptedServer([.read, .open(isThere), .stall])
        defer { server.stop() }
        let watch = Watch()
        let client = transport.client.with { $0.interceptors.append(watch) }
        let task = Task {
            do {
                _ = try await client.send(RequestData(path: server.url()), as: .data)
                return false
            } catch NetworkError.cancelled {
                return true
            }
        }
        try await isThere.wait()
        task.cancel()
        #expect(try await task.value)
        let seen = try #require(watch.seen.withLock { $0 })
        #expect(seen.code == .cancelled)
    }

    private final class Watch: Interceptor {
        let seen = Guarded<NetworkError?>(nil)

        func intercept(_ request: TransportRequest, in call: Call, next: Next) async throws -> TransportResponse {
            do { return try await next(request) } catch let error as NetworkError {
                seen.withLock { $0 = error }
                throw error
            }
        }
    }
}
