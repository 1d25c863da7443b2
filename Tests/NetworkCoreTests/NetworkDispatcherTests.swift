import Dispatch
import Foundation
import NetworkCore
import Synchronization
import TestSupport
import Testing

private struct Row: Codable, Equatable {
    let dataField1: String
    let dataField2: String
}

private struct GetRows: RequestType {
    typealias ResponseType = [Row]
    var data: RequestData { RequestData(path: "http://127.0.0.1:3000/test") }
}

/// The dispatcher from the documentation of `NetworkDispatcher`.
private struct CannedDispatcher: NetworkDispatcher {
    func dispatch(
        request: RequestData,
        onSuccess: @escaping @Sendable (Data) -> Void,
        onError: @escaping @Sendable (any Error) -> Void
    ) {
        onSuccess(Data(#"[{"dataField1": "1", "dataField2": "1"}]"#.utf8))
    }
}

/// A dispatcher whose closures are declared as in the tutorials: without `@Sendable`.
private struct TutorialStyleDispatcher: NetworkDispatcher {
    func dispatch(request: RequestData, onSuccess: @escaping (Data) -> Void, onError: @escaping (any Error) -> Void) {
        guard request.path.hasPrefix("http") else {
            onError(NetworkError.invalidURL)
            return
        }
        onSuccess(Data(#"[{"dataField1": "2", "dataField2": "2"}]"#.utf8))
    }
}

private struct ClosureDispatcher: NetworkDispatcher {
    let answer: @Sendable (@escaping @Sendable (Result<Data, any Error>) -> Void) -> Void

    func dispatch(
        request: RequestData,
        onSuccess: @escaping @Sendable (Data) -> Void,
        onError: @escaping @Sendable (any Error) -> Void
    ) {
        answer { result in
            switch result {
            case .success(let data): onSuccess(data)
            case .failure(let error): onError(error)
            }
        }
    }
}

private struct OwnError: Error, Equatable {}

@Suite(.patience(minutes: 1))
struct NetworkDispatcherTests {
    /// Regression: the limit on a collected body, which a caller can't set here, refused bytes that were there.
    @Test func `a dispatcher of bytes may deliver many`() async throws {
        let dispatcher = ClosureDispatcher { $0(.success(Data(count: 65 << 20))) }
        #expect(try await dispatcher.send(RequestData(path: "http://h/"), as: .data).body.count == 65 << 20)
    }

    private let body = Data("[]".utf8)

    @Test func `a dispatcher with one method works with async`() async throws {
        #expect(try await GetRows().send(over: CannedDispatcher()).body == [Row(dataField1: "1", dataField2: "1")])
        #expect(
            try await GetRows().send(over: TutorialStyleDispatcher()).body == [Row(dataField1: "2", dataField2: "2")])
    }

    /// Regression: it was a 200 that no server had sent.
    @Test func `a dispatcher of bytes has no status`() async throws {
        let response = try await CannedDispatcher().send(RequestData(path: "http://h/"), as: .data)
        #expect(response.status.code == 0 && response.status.kind == .invalid && response.headerFields.isEmpty)
        #expect(response.description.hasPrefix("no status"))
        let error = await expectFailure(.decodingFailed) { try await CannedDispatcher().send(GetRows(), as: Int.self) }
        #expect(error?.response?.status.code == 0)
    }

    /// Regression: the error named a GET of http://localhost/, which nothing had sent.
    @Test func `an error over a dispatcher of bytes names no request that was not made`() async throws {
        let request = RequestData(path: "movies", method: .post)
        let error = await expectFailure(.decodingFailed) {
            try await CannedDispatcher().send(request, as: Int.self)
        }
        #expect(error?.exchange == nil && error?.description.contains("localhost") == false)
    }

    @Test(arguments: [CannedDispatcher(), TutorialStyleDispatcher()] as [any NetworkDispatcher])
    func `a dispatcher with one method works with execute`(dispatcher: any NetworkDispatcher) async throws {
        let count = try await withCheckedThrowingContinuation { continuation in
            GetRows().execute(
                dispatcher: dispatcher,
                onSuccess: { continuation.resume(returning: $0.count) },
                onError: { continuation.resume(throwing: $0) }
            )
        }
        #expect(count == 1)
    }

    @Test func `an error of a dispatcher is handed on`() async {
        await #expect(throws: OwnError()) {
            _ = try await GetRows().send(over: ClosureDispatcher { $0(.failure(OwnError())) }).body
        }
    }

    @Test func `a second call is dropped`() async throws {
        let twice = ClosureDispatcher { answer in
            answer(.success(Data("[]".utf8)))
            answer(.success(Data("no JSON".utf8)))
            answer(.failure(OwnError()))
        }
        #expect(try await GetRows().send(over: twice).body.isEmpty)
        await #expect(throws: OwnError()) {
            let failing = ClosureDispatcher { answer in
                answer(.failure(OwnError()))
                answer(.success(Data("[]".utf8)))
            }
            _ = try await GetRows().send(over: failing).body
        }
    }

    @Test func `execute calls once on its queue`() async {
        let queue = DispatchQueue(label: "callbacks")
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        let calls = Guarded(0)
        let twice = ClosureDispatcher { answer in
            answer(.success(Data("[]".utf8)))
            answer(.success(Data("[]".utf8)))
        }
        let isOnQueue = await withCheckedContinuation { continuation in
            GetRows().execute(
                dispatcher: twice,
                queue: queue,
                onSuccess: { _ in
                    calls.withLock { $0 += 1 }
                    continuation.resume(returning: DispatchQueue.getSpecific(key: key) == true)
                },
                onError: { _ in calls.withLock { $0 += 100 } }
            )
        }
        queue.sync {}
        #expect(isOnQueue)
        #expect(calls.withLock { $0 } == 1)
    }

    @Test func `execute reports an undecodable body`() async {
        let error = await withCheckedContinuation { continuation in
            GetRows().execute(
                dispatcher: ClosureDispatcher { $0(.success(Data("{}".utf8))) },
                onSuccess: { _ in continuation.resume(returning: nil as (any Error)?) },
                onError: { continuation.resume(returning: $0) }
            )
        }
        #expect((error as? NetworkError)?.code == .decodingFailed)
    }

    @Test func `cancellation ends the wait for a dispatcher that never responds`() async {
        let (started, start) = AsyncStream<Void>.makeStream()
        let late = Guarded<(@Sendable (Result<Data, any Error>) -> Void)?>(nil)
        let silent = ClosureDispatcher { answer in
            late.withLock { $0 = answer }
            start.finish()
        }
        let task = Task { try await silent.send(GetRows().data, as: .data) }
        for await _ in started {}
        task.cancel()
        await expectFailure(.cancelled) { try await task.value }
        late.withLock { $0 }?(.success(body))
    }

    @Test func `a cancellation before the start is remembered`() async {
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await ClosureDispatcher { _ in }.send(GetRows().data, as: .data).body
        }
        task.cancel()
        await expectFailure(.cancelled) { try await task.value }
    }

    @Test func `the first outcome is delivered once in any order`() async throws {
        let early = FirstOutcome<Int>()
        #expect(early.finish(.success(1)))
        #expect(!early.finish(.success(2)))
        #expect(try await withCheckedThrowingContinuation { early.attach($0) } == 1)
        #expect(!early.finish(.success(3)))

        for _ in 0..<200 {
            let raced = FirstOutcome<Int>()
            let wins = Guarded(0)
            let value = try await withCheckedThrowingContinuation { continuation in
                DispatchQueue.concurrentPerform(iterations: 4) { index in
                    if index == 0 { raced.attach(continuation) }
                    if raced.finish(.success(index)) { wins.withLock { $0 += 1 } }
                }
            }
            #expect((0..<4).contains(value))
            #expect(wins.withLock { $0 } == 1)
        }
    }
}
