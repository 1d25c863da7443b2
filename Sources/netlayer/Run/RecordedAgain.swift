import Foundation
import NetworkComparison
import NetworkLayer
import NetworkRecording

/// Sends recorded requests once more, and compares the responses with the recorded ones.
struct RecordedAgain: Sendable {
    let transport: any HTTPTransport
    /// The header fields to send in place of the recorded ones.
    let fields: [HTTPField]
    let timeout: Duration

    /// What came of one request.
    struct Outcome: Sendable {
        let name: String
        /// The recorded status or failure.
        let status: String
        let differences: [ContentDifference]

        /// Whether the differences are of a kind that counts.
        func isAlarm(_ alarm: DifferenceAlarm) -> Bool {
            switch alarm {
            case .differences: !differences.isEmpty
            case .newDifferences: differences.contains { $0.known == nil }
            case .nothing: false
            }
        }

        func print() async throws {
            let same = differences.isEmpty ? "\(status), the same" : status
            let lines = differences.map { difference in
                "  \(difference.text(("recorded", "now")))" + (difference.known.map { " (known: \($0.name))" } ?? "")
            }
            try await OutputWriter.standardOutput.writeLine(
                TerminalText.visible((["\(name): \(same)"] + lines).joined(separator: "\n")))
        }
    }

    /// Sends a request once more.
    /// - Throws: `CancellationError`. A request that can't be sent is an outcome.
    func outcome(of entry: Recording.Entry) async throws -> Outcome {
        // A recording of another tool has secrets, and what is compared has none.
        var recorded = entry
        recorded.redactSecrets()
        let now = try await exchange(entry, upTo: recorded.response?.body)
        let comparison = ContentComparison(
            Self.tally(recorded), copy: nil, Self.tally(now),
            kinds: (recorded.transport ?? "", transport.name))
        let status = recorded.response.map { "\($0.status)" } ?? recorded.failure?.code.rawValue ?? "nothing"
        // A browser writes names as it likes.
        let isForeign = recorded.transport == nil
        let differences = comparison.differences.filter {
            !isForeign || !["fieldOrder", "fieldCase"].contains($0.place)
        }
        return Outcome(name: "\(entry.request)", status: status, differences: differences)
    }

    private func exchange(_ entry: Recording.Entry, upTo recorded: Recording.Body?) async throws -> Recording.Entry {
        var request: TransportRequest
        do {
            request = try entry.request.transportRequest()
            for field in fields { request.headerFields[field.name] = nil }
            for field in fields { request.headerFields.append(field) }
            request.options.totalTimeout = timeout
        } catch {
            return Recording.Entry(request: entry.request, failure: Recording.Failure(error))
        }
        do {
            let response = try await transport.send(request)
            let body = try await response.body.collect()
            // Of a recorded body that was cut, the rest is not known.
            let isCut = (recorded?.omitted ?? 0) > 0 || entry.isIncomplete
            let known = isCut ? body.prefix(recorded?.bytes.count ?? 0) : body
            return Recording.Entry(
                request, response: response.head, body: Data(known), trailers: response.body.trailers,
                maximumBodyBytes: .max)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            return Recording.Entry(request, failure: error)
        }
    }

    private static func tally(_ entry: Recording.Entry) -> ContentTally {
        var recorded = RecordedResponse()
        if let failure = entry.failure {
            (recorded.errorCode, recorded.errorText) = (failure.code.rawValue, failure.message)
        } else if let response = entry.response {
            recorded.status = response.status
            recorded.fields = RecordedResponse.fields(response.headerFields)
            recorded.trailers = RecordedResponse.fields(response.trailers)
            recorded.setBody(response.body.bytes)
        }
        var tally = ContentTally()
        tally.learn(recorded, as: 0)
        tally.count(0)
        return tally
    }
}
