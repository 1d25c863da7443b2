import Foundation
import NetworkLayer
import NetworkTesting
import TestSupport
import Testing

/// Bodies that keep their decoder busy for minutes or indefinitely: the total timeout and cancellation must end that,
/// however the body is read.
@Suite(.serialized, .patience(minutes: 5), .ownProcess)
struct HostileBodyContract {
    private static let total = Duration.milliseconds(400)
    /// Enough for a busy machine. Without the timeout or cancellation, the body takes much longer.
    private static let patience = Duration.seconds(10 * patienceFactor)
    /// All other errors that such a body may cause, soon.
    private static let refusals: Set<NetworkError.Code> = [
        .invalidContentEncoding, .bodyTooLarge, .lineTooLong, .decodingFailed, .invalidResponse, .noData,
    ]

    @Test(arguments: ContractTransport.all, HostileBody.all)
    func `the total timeout ends a hostile body`(transport: ContractTransport, body: HostileBody) async throws {
        // A stream of events has no total timeout.
        try await body.run(over: transport, ReadingVerb.allCases.filter { $0 != .events }) { verb in
            try await check(body, verb) { server, folder in
                var client = NetworkClient(transport: transport.transport)
                client.options.totalTimeout = Self.total
                try await verb.run(over: client, server.url(), in: folder)
            }
        }
    }

    @Test(arguments: ContractTransport.all, HostileBody.all)
    func `cancellation ends a hostile body`(transport: ContractTransport, body: HostileBody) async throws {
        try await body.run(over: transport, ReadingVerb.allCases) { verb in
            try await check(body, verb) { server, folder in
                let (client, url) = (NetworkClient(transport: transport.transport), server.url())
                let reading = Task { try await verb.run(over: client, url, in: folder) }
                try await server.wait { !$0.requests.isEmpty }
                reading.cancel()
                try await reading.value
            }
        }
    }

    /// Expects that the body is read to its end within the time limit, or refused.
    private func check(
        _ body: HostileBody, _ verb: ReadingVerb, _ read: (ScriptedServer, String) async throws -> Void
    ) async throws {
        try await withFolder { folder in
            let server = try ScriptedServer(body.script)
            defer { server.stop() }
            let start = ContinuousClock.now
            do {
                try await read(server, folder)
                #expect(!body.isEndless || ![.stream, .lines, .jsonLines].contains(verb), "\(verb)")
            } catch is CancellationError {
                // The caller's own task was cancelled.
            } catch let error as NetworkError {
                let isEnded = error.code == .totalTimeout
                let mayBeRefused = !body.isEndless || ![.stream, .lines, .jsonLines].contains(verb)
                #expect(isEnded || mayBeRefused && Self.refusals.contains(error.code), "\(verb): \(error)")
                #expect(error.exchange != nil, "\(verb): \(error)")
            }
            #expect(ContinuousClock.now - start < Self.total + Self.patience, "\(verb)")
        }
    }
}

extension HostileBody {
    /// Reads the body in the given ways, if the transport can decode it and is not excluded.
    fileprivate func run(
        over transport: ContractTransport, _ verbs: [ReadingVerb],
        _ body: @escaping (ReadingVerb) async throws -> Void
    ) async throws {
        if let capability, !transport.transport.capabilities.supports(capability) { return }
        let all = { for verb in verbs { try await body(verb) } }
        if let exclusion { try await transport.run(exclusion, body: all) } else { try await all() }
    }
}
