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
        let time = ReplayTime(request.options, on: clock)
        do {
            try request.check(for: capabilities)
            let body = try await time.collect(request.body, upTo: options.maximumBodyBytes)
            return try await give(try entry(for: recorded(request, body)), to: request, time)
        } catch {
            throw (error as? NetworkError)?.during(request, transport: name, elapsed: time.elapsed) ?? error
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
                guard let entry = list.take(keys) else {
                    throw list.miss(request, list.entries(of: keys), strict: isStrict)
                }
                return entry
            }
        }
        // A rule is the caller's closure, which may use the transport, so it is asked outside the lock.
        let entries = list.withLock(\.entries)
        let matching = entries.indices.filter { matches(request, entries[$0]) }
        return try list.withLock { list in
            guard let entry = list.take(matching) else { throw list.miss(request, matching, strict: false) }
            return entry
        }
    }

    private func give(
        _ entry: Recording.Entry, to request: TransportRequest, _ time: ReplayTime
    ) async throws -> TransportResponse {
        guard let response = entry.response else {
            let failure = entry.failure
            try await wait(until: failure?.time ?? entry.metrics.total, time)
            throw failure?.error ?? NetworkError(.notRecorded, "the entry has neither a response nor a failure")
        }
        guard (100...999).contains(response.status) else {
            throw NetworkError.invalidRecording("the status \(response.status) is none from 100 to 999")
        }
        try await wait(until: response.headTime ?? entry.metrics.firstByte ?? .zero, time)
        let status = HTTPResponse.Status(code: response.status, reasonPhrase: response.reason)
        return TransportResponse(
            head: HTTPResponse(status: status, headerFields: entry.replayedFields(of: response)),
            body: TransportResponse.Body(
                source: ReplayBody(response, of: entry, request: request, time: time, timing)))
    }

    private func wait(until recorded: Duration, _ time: ReplayTime) async throws {
        try await time.wait(until: timing == .none ? .zero : recorded, for: .head)
    }
}

extension Recording.Entry {
    /// Returns the header fields of a response for its body as it is replayed, which secrets were taken from.
    fileprivate func replayedFields(of response: Recording.Response) -> HTTPFields {
        var fields = response.headerFields
        if redacted.contains(.responseBody), response.body.omitted == 0, fields.contains(.contentLength) {
            fields[.contentLength] = "\(response.body.bytes.count)"
        }
        return fields
    }
}
