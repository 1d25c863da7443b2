import FoundationEssentials
import NetworkComparison
import NetworkCore
import Synchronization

/// One request that has a shadow: the primary's side, seen while the program reads it, and the shadow's.
final class ShadowExchange: Sendable {
    /// One side as far as it was seen.
    fileprivate struct Record: Sendable {
        var head: HTTPResponse?
        var body = Data()
        var isWhole = false
        /// Whether the body had more bytes than there was room for.
        var isCut = false
        var trailers: HTTPFields?
        var failure: (any Error)?

        /// Adds bytes up to a limit, and returns whether there is room for more.
        mutating func add(_ bytes: Data, upTo limit: Int) -> Bool {
            // Nothing is appended to a record that is compared already: that would copy it.
            if bytes.count > limit - body.count { isCut = true }
            if body.count < limit { body += bytes.prefix(limit - body.count) }
            return body.count < limit
        }

        /// Ends the body.
        mutating func end(_ trailers: HTTPFields?) {
            isWhole = !isCut
            self.trailers = trailers
        }
    }

    private let request: TransportRequest
    private let primaryName: String
    private let shadow: any HTTPTransport
    private let options: ShadowTransport.Options
    private let gate: ShadowGate
    private let report: @Sendable (ShadowTransport.Difference) -> Void
    /// The primary's side so far; `nil` when it is needed no longer, however long the program reads.
    private let seen = Guarded<Record?>(Record())
    /// Raised when the primary's side is whole enough, or is not to be compared.
    private let primaryEnd = FirstOutcome<Void>()

    init(
        _ request: TransportRequest, besides primaryName: String, over shadow: any HTTPTransport,
        _ options: ShadowTransport.Options, _ gate: ShadowGate,
        _ report: @escaping @Sendable (ShadowTransport.Difference) -> Void
    ) {
        (self.request, self.primaryName, self.shadow) = (request, primaryName, shadow)
        (self.options, self.gate, self.report) = (options, gate, report)
    }

    /// The number of bytes of the primary's body that are kept.
    var keptBytes: Int { seen.withLock { $0?.body.count ?? 0 } }

    // MARK: The primary

    /// Begins the shadow's exchange, and returns the primary's response with a witness.
    func begin(besides response: TransportResponse) -> TransportResponse {
        seen.withLock { $0?.head = response.head }
        run()
        let body = response.body
        return response.witnessed { [self] event in
            switch event {
            case .bytes(let bytes):
                let hasRoom = seen.withLock { $0?.add(bytes, upTo: options.maximumComparedBytes) }
                if hasRoom == false { primaryEnd.finish(.success(())) }
            case .end:
                let trailers = body.trailers
                seen.withLock { $0?.end(trailers) }
                primaryEnd.finish(.success(()))
            // Its reader wanted no more.
            case .failure(let error) where NetworkError.code(of: error) == .bodyTooLarge:
                primaryEnd.finish(.success(()))
            case .failure(let error): end(with: error)
            case .release: primaryEnd.finish(.success(()))
            }
        }
    }

    /// Begins the shadow's exchange after a failure of the primary.
    func begin(besides error: any Error) {
        end(with: error)
        run()
    }

    /// Whether the primary has failed by itself, with a request that it has sent.
    static func isComparable(_ error: any Error) -> Bool {
        guard !isEndedByProgram(error), let failure = error as? NetworkError else { return false }
        return failure.phase != .preparing && failure.phase != .queued
    }

    private static func isEndedByProgram(_ error: any Error) -> Bool {
        let code = NetworkError.code(of: error)
        return error is CancellationError || code == .cancelled || code == .shutDown
    }

    private func end(with error: any Error) {
        let isEnded = Self.isEndedByProgram(error)
        seen.withLock { record in
            record?.failure = error
            if isEnded { record = nil }
        }
        primaryEnd.finish(.success(()))
    }

    // MARK: The shadow

    private var timeout: Duration { min(options.timeout, TransportOptions.maximumTimeout) }

    private func run() {
        Task.detached(priority: .background) { [self] in
            await atMost(timeout) { [self] in await compare() }
            seen.withLock { $0 = nil }
            gate.finish()
        }
    }

    /// Sends the request over the shadow, waits for the primary's side, and reports if they differ.
    private func compare() async {
        let end = ContinuousClock.now + timeout
        var request = request
        // The shadow's own clock would race with the one that cancels this task.
        if let own = request.options.totalTimeout, own >= timeout { request.options.totalTimeout = nil }
        request.options.progress = nil
        request.interimResponse = nil
        request.options.wireLog = nil
        guard (try? request.check(for: shadow.capabilities)) != nil else { return gate.count(\.unsupported) }
        let other = await record(of: request)
        let isEnded = other.failure.map(Self.isEndedByProgram) ?? false
        guard !isEnded, ContinuousClock.now < end, let own = await primarySide(), !Task.isCancelled else {
            return gate.count(\.unfinished)
        }
        let places = places(own, other)
        guard !places.isEmpty else { return gate.count(\.same) }
        gate.count(places.allSatisfy { $0.known != nil } ? \.knownDifferences : \.differences)
        report(
            ShadowTransport.Difference(
                request: self.request, primary: own.side, shadow: other.side, places: places,
                compared: gate.counts.compared))
    }

    private func record(of request: TransportRequest) async -> Record {
        var record = Record()
        do {
            let response = try await shadow.send(request)
            record.head = response.head
            for try await chunk in response.body {
                guard record.add(chunk, upTo: options.maximumComparedBytes) else { return record }
            }
            record.end(response.body.trailers)
        } catch {
            record.failure = error
        }
        return record
    }

    private func primarySide() async -> Record? {
        try? await primaryEnd.value(orWhenCancelled: CancellationError())
        return seen.withLock { record in
            defer { record = nil }
            return record
        }
    }

    private func places(_ own: Record, _ other: Record) -> [ShadowTransport.Difference.Place] {
        let isWhole = own.isWhole && other.isWhole
        // What may follow on a side that was not read to its end is no difference.
        let count = [own, other].map { $0.isWhole ? .max : $0.body.count }.min() ?? .max
        var tallies = (ContentTally(), ContentTally())
        tallies.0.learn(own.response(upTo: count, withTrailers: isWhole), as: 0)
        tallies.1.learn(other.response(upTo: count, withTrailers: isWhole), as: 0)
        tallies.0.count(0)
        tallies.1.count(0)
        let comparison = ContentComparison(
            tallies.0, copy: nil, tallies.1, kinds: (primaryName, shadow.name),
            sentNames: request.headerFields.map(\.name), secretFields: request.options.secretFields)
        // Two bodies that end in their midst rarely end in the same part.
        let differences = comparison.differences.filter { difference in
            isWhole || !ResponseParts.isOfBodyParts(difference.wholePlace) || !difference.isOneSided
        }
        return differences.filter { !options.ignoredPlaces.contains($0.wholePlace) }.map {
            ShadowTransport.Difference.Place(
                name: $0.place, primary: $0.example.left, shadow: $0.example.right, known: $0.known?.name)
        }
    }
}

extension ShadowExchange.Record {
    /// The response as the program may see it in a difference; `nil` after a failure.
    fileprivate var side: ShadowTransport.Difference.Side? {
        guard failure == nil, let head else { return nil }
        return ShadowTransport.Difference.Side(head: head, body: body, isWhole: isWhole)
    }

    /// The response as it is compared.
    fileprivate func response(upTo count: Int, withTrailers: Bool) -> RecordedResponse {
        var response = RecordedResponse()
        if let failure {
            response.setFailure(failure)
            return response
        }
        response.status = head?.status.code
        response.fields = RecordedResponse.fields(head?.headerFields)
        if withTrailers { response.trailers = RecordedResponse.fields(trailers) }
        response.setBody(body.prefix(count))
        response.isCut = !isWhole || count < body.count
        return response
    }
}
