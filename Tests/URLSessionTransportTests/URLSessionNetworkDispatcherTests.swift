import Foundation
import NetworkCore
import Testing

@testable import URLSessionTransport

@Suite struct URLSessionNetworkDispatcherTests {
    private let transport = URLSessionNetworkDispatcher.instance

    @Test func capabilities_giveAReason_forEachThingThatIsNotThere() {
        for capability in TransportCapability.wellKnown where !transport.capabilities.supports(capability) {
            #expect(transport.capabilities.reasons[capability] != nil, "\(capability.rawValue)")
        }
    }

    @Test func request_isRefusedBeforeItIsSent_whenItNeedsWhatIsNotThere() async throws {
        var withBody = try makeRequest()
        withBody.body = .bytes(Data("x".utf8))
        let requests = [
            withBody, try makeRequest("http://[::1]/"), try makeRequest { $0.decompress = false },
            try makeRequest { $0.httpVersion = .http1_0 }, try makeRequest { $0.httpVersion = .http1_1 },
            try makeRequest { $0.httpVersion = .http2 },
        ]
        for request in requests {
            let error = await #expect(throws: NetworkError.self) { try await transport.send(request) }
            #expect(error?.code == .unsupported)
            #expect(error?.phase == .preparing)
            #expect(error?.exchange?.transport == "urlsession")
        }
    }

    @Test func request_isCancelled_whenTheTaskIsCancelledBeforeTheStart() async throws {
        let request = try makeRequest("http://127.0.0.1:1/")
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await transport.send(request)
        }
        task.cancel()
        let error = await #expect(throws: NetworkError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(error?.exchange?.url == "http://127.0.0.1:1/")
    }

    @Test func request_fails_whenNobodyListens() async throws {
        let error = await #expect(throws: NetworkError.self) {
            try await transport.send(makeRequest("http://127.0.0.1:1/", method: .post))
        }
        #expect(error?.code == .connectFailed)
        #expect(error?.underlying?.code == NSURLErrorCannotConnectToHost)
    }
}
