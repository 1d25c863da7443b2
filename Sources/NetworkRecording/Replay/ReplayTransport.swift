import FoundationEssentials
public import NetworkCore
import Synchronization

/// A transport without a network, which gives the responses of a recording.
///
/// ```swift
/// let transport = ReplayTransport(try Recording(contentsOf: "Fixtures/users.har"))
/// let users = try await GetUsers().send(over: transport).body
/// try transport.checkAllUsed()
/// ```
///
/// Entries that match a request are given in the order in which they began, each of them once. A request without an
/// entry fails with the code `notRecorded`; its message names the request and the nearest entries. A failure is
/// replayed with its code, and a body arrives in the recorded chunks. What was not recorded of a body, such as its part
/// beyond the recorder's limit, fails with `notRecorded` when it is read.
public final class ReplayTransport: HTTPTransport, NetworkDispatcher {
    /// The name of the transport, `replay`.
    public let name = "replay"
    /// The capabilities: all of them.
    public let capabilities: TransportCapabilities

    private let matching: Matching
    private let timing: Timing
    private let clock: any Clock<Duration>
    private let options: RecordingTransport.Options
    private let list: Guarded<ReplayList>

    /// Creates a transport.
    /// - Parameters:
    ///   - recording: The exchanges to give. Their secrets are left out.
    ///   - matching: The rule by which a request is the one that was recorded. Default: its method and URL.
    ///   - timing: When a response arrives. Default: at once.
    ///   - repeatsLast: Whether the last entry that matches a request is given again when all of them were given.
    ///     Default: `false`.
    ///   - options: The recorder's options, of which the limit of bodies, the closure and the clock apply to requests
    ///     in the same way. The clock is that of ``Timing/recorded`` and of all timeouts. Default: the default options.
    public init(
        _ recording: Recording,
        matching: Matching = .methodAndURL,
        timing: Timing = .none,
        repeatsLast: Bool = false,
        options: RecordingTransport.Options = RecordingTransport.Options()
    ) {
        self.matching = matching
        self.timing = timing
        clock = options.clock
        self.options = options
        list = Guarded(ReplayList(recording, repeatsLast: repeatsLast, isStrict: matching.isStrict))
        capabilities = TransportCapabilities(
            transport: "replay", basis: "what was recorded", supported: Set(TransportCapabilities.Capability.wellKnown))
    }

    /// Creates a transport with a clock of its own; see ``init(_:matching:timing:repeatsLast:options:)``.
    public convenience init(
        _ recording: Recording,
        matching: Matching = .methodAndURL,
        timing: Timing = .none,
        repeatsLast: Bool = false,
        clock: any Clock<Duration>
    ) {
        var options = RecordingTransport.Options()
        options.clock = clock
        self.init(recording, matching: matching, timing: timing, repeatsLast: repeatsLast, options: options)
    }

    /// Checks that each entry was given and that every request had one.
    /// - Throws: ``ReplayFailure``, which lists the entries that are left and the requests without one.
    public func checkAllUsed() throws {
        let problems = list.withLock(\.problems)
        guard problems.isEmpty else { throw ReplayFailure(problems: problems) }
    }

    /// Gives the request its first entry that is left. A streamed body is read first.
    /// - Throws: The entry's failure; the code `notRecorded`; a timeout of the request, if the recorded time is longer.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        let exchange = PlayedExchange(of: request, over: name, on: clock)
        do {
            try request.check(for: capabilities)
            var body = request.body?.bytes.map { Recording.Body($0, limit: options.maximumBodyBytes) }
            if body == nil, let streamed = request.body {
                let passing = PassingBody(limit: options.maximumBodyBytes)
                try await exchange.read(streamed) { passing.append($0, at: .zero) }
                body = passing.record.body
            }
            return try await give(try entry(for: recorded(request, body)), exchange)
        } catch {
            throw exchange.naming(error)
        }
    }

    /// Returns the request as it would be recorded.
    private func recorded(_ request: TransportRequest, _ body: Recording.Body?) -> Recording.Request {
        var entry = Recording.Entry(request: Recording.Request(request, body: body))
        entry.redactSecrets(in: request.options.secretFields, bodies: .all)
        options.redact?(&entry)
        return entry.request
    }

    private func entry(for request: Recording.Request) throws -> Recording.Entry {
        guard case .rule(_, let matches) = matching.kind else {
            let isStrict = matching.isStrict
            let keys = ReplayList.Key.all(of: request, isStrict: isStrict)
            return try list.withLock { list in
                guard let entry = list.take(keys) else { throw list.miss(request, strict: isStrict) }
                return entry
            }
        }
        // A rule is the caller's closure, which may use the transport, so it is asked outside the lock.
        let entries = list.withLock(\.entries)
        let matching = entries.indices.filter { matches(request, entries[$0]) }
        return try list.withLock { list in
            guard let entry = list.take(matching) else { throw list.miss(request, matching: matching) }
            return entry
        }
    }

    private func give(_ entry: Recording.Entry, _ exchange: PlayedExchange) async throws -> TransportResponse {
        func moment(_ time: Duration?) -> PlayedExchange.Moment { .at(timing == .none ? .zero : time ?? .zero) }
        guard let response = entry.response else {
            try await exchange.wait(moment(entry.failure?.time ?? entry.metrics.total))
            throw entry.failure?.error ?? NetworkError(.notRecorded, "the entry has neither a response nor a failure")
        }
        guard (100...999).contains(response.status) else {
            throw NetworkError.invalidRecording("the status \(response.status) is none from 100 to 999")
        }
        try await exchange.wait(moment(response.headTime ?? entry.metrics.firstByte))
        let status = HTTPResponse.Status(code: response.status, reasonPhrase: response.reason)
        let end = response.chunks.last?.time ?? max(response.headTime ?? .zero, entry.metrics.total)
        let body = PlayedBody(
            response.playedChunks(endingAt: end).map { ($0.bytes, moment($0.time)) },
            failure: (entry.failure?.error ?? entry.missingBody).map { ($0, moment(entry.failure?.time)) },
            trailers: response.trailers, metrics: entry.metrics, over: exchange)
        return TransportResponse(
            head: HTTPResponse(status: status, headerFields: entry.playedFields), body: .init(source: body))
    }
}

extension Recording.Response {
    /// Returns the chunks of the body. What secrets took or marks added is in the last one.
    fileprivate func playedChunks(endingAt end: Duration) -> [(bytes: Data, time: Duration)] {
        var (rest, played) = (body.bytes, [(Data, Duration)]())
        for (index, chunk) in chunks.enumerated() where !rest.isEmpty {
            let isLast = index == chunks.count - 1 && body.omitted == 0
            let bytes = isLast ? rest : rest.prefix(max(0, chunk.count))
            rest = rest.dropFirst(bytes.count)
            if !bytes.isEmpty { played.append((Data(bytes), chunk.time)) }
        }
        return rest.isEmpty ? played : played + [(Data(rest), end)]
    }
}

extension Recording.Entry {
    /// The header fields of the response for its body as it is replayed, which secrets were taken from.
    fileprivate var playedFields: HTTPFields {
        guard let response else { return [:] }
        var fields = response.headerFields
        if redacted.contains(.responseBody), response.body.omitted == 0, fields.contains(.contentLength) {
            fields[.contentLength] = "\(response.body.bytes.count)"
        }
        return fields
    }

    /// The error for the part of the response's body that is not in the recording.
    fileprivate var missingBody: NetworkError? {
        guard let body = response?.body else { return nil }
        var problem: String?
        if body.isLeftOut, redacted.contains(.responseBody) {
            problem =
                "the response's body (\(body.omitted) bytes) was not recorded, because it has no structure in which "
                + "secrets are found; record it with RecordingTransport.Options(bodies: .all)"
        } else if body.omitted > 0 {
            problem = "\(body.omitted) bytes of the response's body were not recorded"
        } else if isIncomplete {
            problem = "the response was released before the end of its body when it was recorded"
        }
        return problem.map { NetworkError(.notRecorded, $0, phase: .receiving) }
    }
}
