import Synchronization
import Testing

@testable import NetworkCore

struct EventReconnectionTests {
    private func head(_ status: Int, _ type: String? = "text/event-stream; charset=utf-8") -> HTTPResponse {
        var head = HTTPResponse(status: .init(code: status))
        head.headerFields[.contentType] = type
        return head
    }

    private func options(failures: Int? = 10) -> ServerSentEvents.Options {
        var options = ServerSentEvents.Options()
        options.maximumFailures = failures
        return options
    }

    @Test(
        arguments: [
            (200, .read), (204, .finish), (201, .refuse), (301, .refuse), (401, .refuse), (404, .refuse),
            (500, .reconnect(after: .seconds(3))), (503, .reconnect(after: .seconds(3))),
        ] as [(Int, EventReconnection.Action)]
    )
    func `the status decides`(status: Int, expected: EventReconnection.Action) {
        var reconnection = EventReconnection(options())
        #expect(reconnection.opened(head(status), jitter: 0) == expected)
    }

    @Test(arguments: [nil, "text/plain", "application/json"] as [String?])
    func `other content types are refused`(type: String?) {
        var reconnection = EventReconnection(options())
        #expect(reconnection.opened(head(200, type), jitter: 0) == .refuse)
    }

    @Test func `the delay doubles until an event comes`() {
        var reconnection = EventReconnection(options(failures: nil))
        let delays = (0..<7).map { _ in reconnection.lost(jitter: 0) }
        #expect(delays == [3, 6, 12, 24, 48, 60, 60].map { .reconnect(after: .seconds($0)) })
        reconnection.received()
        #expect(
            reconnection.lost(jitter: 0.25) == .reconnect(after: .seconds(3)), "the first is as the server wants it")
        #expect(reconnection.lost(jitter: 0.25) == .reconnect(after: .seconds(7.5)))
    }

    @Test func `the server's time is taken within the limit`() {
        var reconnection = EventReconnection(options())
        reconnection.serverTime = .milliseconds(700)
        #expect(reconnection.lost(jitter: 0) == .reconnect(after: .milliseconds(700)))
        reconnection.serverTime = .seconds(1_000_000)
        #expect(reconnection.lost(jitter: 0) == .reconnect(after: .seconds(60)))
    }

    /// Without a minimum, a server that requests no pause would get connections as fast as it can close them,
    /// indefinitely.
    @Test(arguments: [Duration.zero, .milliseconds(1), .milliseconds(499), nil])
    func `a pause is never shorter than the shortest`(serverTime: Duration?) {
        var options = options(failures: nil)
        options.reconnectionDelay = .zero
        var reconnection = EventReconnection(options)
        for failures in 1...20 {
            reconnection.serverTime = serverTime
            let pause = reconnection.lost(jitter: 0)
            #expect(pause == .reconnect(after: .milliseconds(500)), "after \(failures)")
            // Each connection brings an event, so that none counts as a failure.
            reconnection.received()
        }
        options.minimumReconnectionDelay = .milliseconds(5)
        reconnection = EventReconnection(options)
        reconnection.serverTime = .zero
        #expect(reconnection.lost(jitter: 0) == .reconnect(after: .milliseconds(5)))
        options.maximumReconnectionDelay = .milliseconds(2)
        reconnection = EventReconnection(options)
        #expect(reconnection.lost(jitter: 0) == .reconnect(after: .milliseconds(2)), "the maximum is below the minimum")
    }

    @Test func `failures in a row have a limit`() {
        var reconnection = EventReconnection(options(failures: 3))
        #expect(reconnection.lost(jitter: 0) == .reconnect(after: .seconds(3)))
        #expect(reconnection.opened(head(500), jitter: 0) == .reconnect(after: .seconds(6)))
        #expect(reconnection.lost(jitter: 0) == .giveUp)
    }

    /// Regression: the eleventh was the last.
    @Test func `the tenth failure is the last`() {
        var reconnection = EventReconnection(ServerSentEvents.Options())
        let actions = (1...10).map { _ in reconnection.lost(jitter: 0) }
        #expect(actions.firstIndex(of: .giveUp) == 9)
    }

    @Test func `an end after an event is no failure`() {
        var reconnection = EventReconnection(options(failures: 1))
        for _ in 0..<3 {
            #expect(reconnection.opened(head(200), jitter: 0) == .read)
            reconnection.received()
            #expect(reconnection.ended(jitter: 0) == .reconnect(after: .seconds(3)))
        }
        #expect(reconnection.opened(head(200), jitter: 0) == .read)
        #expect(reconnection.ended(jitter: 0) == .giveUp)
    }

    @Test func `a limit of zero is no reconnection`() {
        var reconnection = EventReconnection(options(failures: 0))
        #expect(reconnection.opened(head(200), jitter: 0) == .read)
        reconnection.received()
        #expect(reconnection.ended(jitter: 0) == .finish)
        #expect(reconnection.lost(jitter: 0) == .giveUp)
    }

    @Test func `a body that can't be sent again ends the stream`() {
        var reconnection = EventReconnection(options(), isReplayable: false)
        #expect(reconnection.lost(jitter: 0) == .giveUp)
    }

    /// Each failure that a call retries is followed by another connection.
    @Test(arguments: RetryInterceptor.Policy().codes.sorted { $0.rawValue < $1.rawValue })
    func `a failure of the network is followed by another connection`(code: NetworkError.Code) async throws {
        let tries = Guarded(0)
        let transport = AnsweringTransport { _ in
            let number = tries.withLock { tries in
                tries += 1
                return tries
            }
            if number == 1 { throw NetworkError(code, "broken") }
            return number == 2
                ? .init(fields: [.contentType: "text/event-stream"], body: "data: a\n\n") : .init(status: 204)
        }
        var options = options()
        options.time.sleep = { _ in }
        var data: [String] = []
        let client = NetworkClient(transport: transport)
        for try await event in try await client.send(RequestData(path: "http://h/"), as: .events(options)).body {
            data.append(event.data)
        }
        #expect(data == ["a"])
        #expect(transport.requests.count == 3)
    }
}
