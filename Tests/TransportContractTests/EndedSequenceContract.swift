import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

/// Checks that a sequence that has ended with an error holds no connection, even while its response exists.
@Suite(.patience(minutes: 1))
struct EndedSequenceContract {
    /// The cause of a sequence's end.
    enum Fault: CaseIterable, Sendable {
        case longLine, longJSONLine, undecodableLine, longEvent, cancelled

        private static let long = String(repeating: "x", count: 4_000)

        var start: String {
            switch self {
            case .longLine, .longJSONLine: "1\n" + Self.long
            case .undecodableLine: "1\nxyz\n"
            case .longEvent: "data: 1\n\ndata: \(Self.long)\n\n"
            case .cancelled: "1\n"
            }
        }

        var type: String {
            switch self {
            case .longEvent: "text/event-stream"
            case .undecodableLine: "text/plain; charset=us-ascii"
            default: "text/plain"
            }
        }

        /// The bytes of the body, one of them invalid in ASCII for the undecodable line.
        var body: Data {
            Data(start.utf8.map { self == .undecodableLine && $0 == UInt8(ascii: "y") ? 0xE9 : $0 })
        }

        /// Reads to the end, and returns the error and the value that holds the response.
        func read(_ client: NetworkClient, _ url: String) async throws -> (error: NetworkError?, held: any Sendable) {
            let request = RequestData(path: url)
            switch self {
            case .longLine:
                let response = try await client.send(request, as: .lines(maximumLineBytes: 1_000))
                return (await expectFailure(.lineTooLong) { for try await _ in response.body {} }, response)
            case .longJSONLine:
                let response = try await client.send(request, as: .jsonLines(of: Int.self, maximumLineBytes: 1_000))
                return (await expectFailure(.lineTooLong) { for try await _ in response.body {} }, response)
            case .undecodableLine:
                let response = try await client.send(request, as: .lines)
                return (await expectFailure(.undecodableText) { for try await _ in response.body {} }, response)
            case .longEvent:
                var options = ServerSentEvents.Options()
                options.maximumEventBytes = 1_000
                let response = try await client.send(request, as: .events(options))
                return (await expectFailure(.eventTooLarge) { for try await _ in response.body {} }, response)
            case .cancelled:
                let response = try await client.send(request, as: .lines)
                let reader = Task {
                    for try await _ in response.body { withUnsafeCurrentTask { $0?.cancel() } }
                    throw NetworkError.cancelled
                }
                return (await expectFailure(.cancelled) { try await reader.value }, response)
            }
        }
    }

    /// The server's output after the bytes that end the sequence.
    enum Rest: CaseIterable, Sendable { case silence, flood }

    @Test(arguments: ContractTransport.all, Fault.allCases.flatMap { fault in Rest.allCases.map { (fault, $0) } })
    func `the connection is free at once`(transport: ContractTransport, way: (Fault, Rest)) async throws {
        let (fault, rest) = way
        let head = Script.head(200, fields: [("Content-Type", fault.type), ("Content-Length", "100000000")])
        let last: Script.Step = rest == .silence ? .stall : .flood(Data("y\n".utf8))
        try await withServer([.read, .send(head + fault.body), last]) { server in
            let (_, held) = try await fault.read(NetworkClient(transport: transport.transport), server.url())
            try await server.wait { $0.connectionsEndedByPeer == 1 }
            withExtendedLifetime(held) {}
        }
    }

    /// The sequences that are read from a body while it arrives.
    enum Form: CaseIterable, Sendable {
        case lines, jsonLines, events

        /// Lets two readers wait for the same body, one of which is refused.
        /// - Returns: The number of elements that the other one has read.
        func read(_ client: NetworkClient, _ url: String, _ isRefused: Gate) async throws -> Int {
            let request = RequestData(path: url)
            switch self {
            case .lines: return try await compete(try await client.send(request, as: .lines).body, isRefused)
            case .jsonLines:
                return try await compete(try await client.send(request, as: .jsonLines(of: Int.self)).body, isRefused)
            case .events: return try await compete(try await client.send(request, as: .events).body, isRefused)
            }
        }

        private func compete<Elements: AsyncSequence & Sendable>(
            _ elements: Elements, _ isRefused: Gate
        ) async throws -> Int {
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        do {
                            // A stream of events has no end, for it reconnects.
                            return try await elements.prefix(2).reduce(0) { count, _ in count + 1 }
                        } catch NetworkError.Code.bodyAlreadyRead {
                            isRefused.open()
                            return 0
                        }
                    }
                }
                return try await group.reduce(0, +)
            }
        }
    }

    /// Regression: the refusal ended the exchange, and the first reader failed.
    @Test(arguments: ContractTransport.all, Form.allCases)
    func `a second reader is refused, and the first one reads on`(
        transport: ContractTransport, form: Form
    ) async throws {
        let isRefused = Gate()
        let body = form == .events ? "data: 1\n\ndata: 2\n\n" : "1\n2\n"
        let type = form == .events ? "text/event-stream" : "text/plain"
        let head = Script.head(200, fields: [("Content-Type", type), ("Content-Length", "\(body.utf8.count)")])
        try await withServer([.read, .send(head), .wait(until: isRefused), .send(body)]) { server async throws in
            let client = NetworkClient(transport: transport.transport)
            #expect(try await form.read(client, server.url(), isRefused) == 2)
        }
    }
}
