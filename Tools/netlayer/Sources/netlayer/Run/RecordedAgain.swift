import Foundation
import NetworkComparison
import NetworkLayer
import NetworkRecording

/// Sends recorded requests once more, and compares the responses with the recorded ones.
struct RecordedAgain: Sendable {
    let transport: any HTTPTransport
    let fields: ReplacedFields
    let timeout: Duration

    /// How much of the body was compared.
    enum Extent: Sendable, Equatable {
        case whole
        /// The number of bytes that the recording has of a longer body.
        case start(Int)
        /// The recording has no body, although there was one.
        case nothing

        fileprivate init(_ entry: Recording.Entry) {
            let isEmpty = entry.request.method == .head || [204, 304].contains(entry.response?.status)
            guard let body = entry.response?.body, !isEmpty, RecordedAgain.isCut(entry) else {
                self = .whole
                return
            }
            self = body.bytes.isEmpty && body.omitted > 0 ? .nothing : .start(body.bytes.count)
        }

        /// What is the same, without a difference.
        fileprivate var same: String {
            switch self {
            case .whole: "the same"
            case .start(let count): "the same as far as it was recorded: \(count) bytes of the body"
            case .nothing: "the same but for the body, which was not recorded"
            }
        }
    }

    /// What came of one request.
    struct Outcome: Sendable {
        let name: String
        /// The recorded status or failure.
        let status: String
        let differences: [ContentDifference]
        let extent: Extent
        /// Whether the request failed, and the recorded one did not.
        let hasFailed: Bool

        /// Whether the differences are of a kind that counts.
        func isAlarm(_ alarm: DifferenceAlarm) -> Bool {
            alarm == .nothing ? hasFailed : differences.contains { alarm.counts(isKnown: $0.known != nil) }
        }

        func print() async throws {
            let same = differences.isEmpty ? "\(status), \(extent.same)" : status
            let lines = differences.map { difference in
                "  \(difference.text(("recorded", "now")))" + (difference.known.map { " (known: \($0.name))" } ?? "")
            }
            for line in ["\(name): \(same)"] + lines {
                try await OutputWriter.standardOutput.writeLine(TerminalText.line(line))
            }
        }
    }

    /// Sends a request once more.
    /// - Throws: `CancellationError`. A request that can't be sent is an outcome.
    func outcome(of entry: Recording.Entry) async throws -> Outcome {
        // A recording of another tool has secrets, and what is compared has none.
        var recorded = entry
        recorded.redactSecrets(bodies: .all)
        var (now, length) = try await exchange(entry, upTo: recorded.response?.body)
        now.redactSecrets(bodies: .all)
        // Of a recorded body that was cut, the rest is not known. A mark is not as long as its secret, so the new body
        // is cut without its secrets.
        var lengths: (before: Int, after: Int)?
        if Self.isCut(recorded), let before = recorded.response?.body, let after = now.response?.body.bytes {
            if let length, recorded.hasLongerBody(than: after, of: length) {
                lengths = (before.count, length)
            }
            now.response?.body.bytes = Data(after.prefix(before.bytes.count))
            now.response?.trailers = recorded.response?.trailers
        }
        let comparison = ContentComparison(
            Self.tally(recorded, length: lengths?.before), copy: nil, Self.tally(now, length: lengths?.after),
            kinds: (recorded.transport ?? "", transport.name),
            sentNames: (entry.request.headerFields.map { $0 } + fields.of(entry)).map(\.name))
        let failure = recorded.failure.map { TerminalText.line($0.code.rawValue) }
        let status = recorded.response.map { "\($0.status)" } ?? failure ?? "nothing"
        // A browser writes names as it likes.
        let isForeign = recorded.transport == nil
        let differences = comparison.differences.filter {
            !isForeign || !["fieldOrder", "fieldCase"].contains($0.place)
        }
        return Outcome(
            name: "\(entry.request)", status: status, differences: differences, extent: Extent(recorded),
            hasFailed: now.failure != nil && recorded.failure == nil)
    }

    /// - Returns: The exchange, and the length of its body; `nil` if the body was not read to its end.
    private func exchange(
        _ entry: Recording.Entry, upTo recorded: Recording.Body?
    ) async throws -> (entry: Recording.Entry, length: Int?) {
        var request: TransportRequest
        do {
            request = try entry.request.transportRequest()
            let own = fields.of(entry)
            for field in own { request.headerFields[field.name] = nil }
            for field in own { request.headerFields.append(field) }
            request.options.totalTimeout = timeout
        } catch {
            return (Recording.Entry(request: entry.request, failure: Recording.Failure(error)), nil)
        }
        do {
            let response = try await transport.send(request)
            let (body, isWhole) =
                Self.isCut(entry)
                ? try await Self.start(of: response.body, atLeast: recorded?.bytes.count ?? 0)
                : (try await response.body.collect(), true)
            let now = Recording.Entry(
                request, response: response.head, body: body, trailers: response.body.trailers,
                maximumBodyBytes: .max, bodies: .all)
            return (now, isWhole ? body.count : nil)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            return (Recording.Entry(request, failure: error), nil)
        }
    }

    /// Whether the end of the recorded body is not known.
    fileprivate static func isCut(_ entry: Recording.Entry) -> Bool {
        (entry.response?.body.omitted ?? 0) > 0 || entry.isIncomplete
    }

    /// Reads the start of a body: twice the bytes that are compared, since a secret may be longer than its mark.
    /// - Returns: The start, and whether it is the whole body.
    private static func start(
        of body: TransportResponse.Body, atLeast count: Int
    ) async throws -> (bytes: Data, isWhole: Bool) {
        let limit = 2 * count + 65_536
        var start = Data()
        for try await chunk in body {
            start += chunk.prefix(limit - start.count)
            if start.count == limit { return (start, false) }
        }
        return (start, true)
    }

    /// - Parameter length: The length of a body that is compared by that and its start; `nil` for one that is compared
    ///   part by part.
    private static func tally(_ entry: Recording.Entry, length: Int?) -> ContentTally {
        var recorded = RecordedResponse()
        if let failure = entry.failure {
            (recorded.errorCode, recorded.errorText) = (failure.code.rawValue, failure.message)
        } else if let response = entry.response {
            recorded.status = response.status
            recorded.fields = RecordedResponse.fields(response.headerFields)
            recorded.trailers = RecordedResponse.fields(response.trailers)
            recorded.setBody(response.body.bytes)
            if let length { recorded.setDigest(SHA256Checksum.digest(response.body.bytes), length: length) }
        }
        var tally = ContentTally()
        tally.learn(recorded, as: 0)
        tally.count(0)
        return tally
    }
}

extension Recording.Entry {
    /// Whether a body that was cut is known to be longer than a new one.
    /// - Parameters:
    ///   - after: The new body without its secrets.
    ///   - length: The length of the new body with its secrets.
    func hasLongerBody(than after: Data, of length: Int) -> Bool {
        guard let body = response?.body else { return false }
        if after.count < body.bytes.count { return true }
        // The lengths in a browser's file are not always those of this exchange, such as with the status 304.
        guard transport != nil else { return false }
        return redacted.contains(.responseBody) ? length == 0 && body.count > 0 : length < body.count
    }
}
