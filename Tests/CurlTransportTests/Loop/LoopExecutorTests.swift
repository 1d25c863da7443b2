import CurlTransport
import Foundation
import NetworkCore
import NetworkTesting
import Testing

struct LoopExecutorTests {
    private static let threadName = "netlayer-curl"

    private func nameOfThisThread() throws -> String {
        try String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8).trimmingCharacters(in: .newlines)
    }

    @Test func `a task resumes on the loop where its response arrived`() async throws {
        try await withServer(.response(200, body: Data("abc".utf8))) { server in
            let dispatcher = CurlNetworkDispatcher()
            let request = TransportRequest(url: try RequestURL(server.url()))
            let names = try await withTaskExecutorPreference(try dispatcher.loopExecutor()) {
                var names = [try nameOfThisThread()]
                for _ in 0..<3 {
                    let response = try await dispatcher.send(request)
                    names.append(try nameOfThisThread())
                    #expect(try await response.body.collect() == Data("abc".utf8))
                    names.append(try nameOfThisThread())
                }
                return names
            }
            #expect(names == Array(repeating: Self.threadName, count: 7))
        }
    }

    @Test func `many tasks on the loop's thread get their responses, streamed ones too`() async throws {
        let body = PatternBytes.make(count: 600_000)
        try await withServer(.response(200, body: body)) { server in
            let dispatcher = CurlNetworkDispatcher()
            let request = TransportRequest(url: try RequestURL(server.url()))
            let sizes = try await withTaskExecutorPreference(try dispatcher.loopExecutor()) {
                try await withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 0..<40 {
                        group.addTask {
                            var count = 0
                            for try await chunk in try await dispatcher.send(request).body { count += chunk.count }
                            return count
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
            }
            #expect(sizes == Array(repeating: body.count, count: 40))
        }
    }

    @Test func `tasks that only wake each other do not keep a response from arriving`() async throws {
        try await withServer(.response(200, body: Data())) { server in
            let dispatcher = CurlNetworkDispatcher()
            let request = TransportRequest(url: try RequestURL(server.url()))
            let status = try await withTaskExecutorPreference(try dispatcher.loopExecutor()) {
                let busy = Task(executorPreference: try dispatcher.loopExecutor()) {
                    while !Task.isCancelled { await Task.yield() }
                }
                defer { busy.cancel() }
                return try await dispatcher.send(request).status.code
            }
            #expect(status == 200)
        }
    }

    @Test func `a dispatcher's tasks resume elsewhere after it has ended`() async throws {
        let dispatcher = CurlNetworkDispatcher()
        let executor = try dispatcher.loopExecutor()
        let name = try await withTaskExecutorPreference(executor) {
            await dispatcher.shutDown(within: .zero)
            await Task.yield()
            return try nameOfThisThread()
        }
        #expect(name != Self.threadName)
        #expect(throws: NetworkError.self) { try dispatcher.loopExecutor() }
    }
}
