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
            guard let body = entry.response?.body, !isEmpty, entry.isCut else {
                self = .whole
                return
            }
            self = body.bytes.isEmpty && body.omitted > 0 ? .nothing : .start(body.bytes.count)
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

        func isAlarm(_ alarm: DifferenceAlarm) -> Bool {
            alarm == .nothing ? hasFailed : differences.contains { alarm.counts(isKnown: $0.known != nil) }
        }

        var lines: [String] {
            let same =
                switch extent {
                case .whole: "the same"
                case .start(let count): "the same as far as it was recorded: \(count) bytes of the body"
                case .nothing: "the same but for the body, which was not recorded"
                }
            return ["\(name): \(status)\(differences.isEmpty ? ", \(same)" : "")"]
                + differences.map { difference in
                    let known = difference.known.map { " (known: \($0.name))" } ?? ""
                    return "  \(difference.text(("recorded", "now")))\(known)"
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
        if recorded.isCut, let before = recorded.response?.body, let after = now.response?.body.bytes {
            if let length, recorded.hasLongerBody(than: after, of: length) { lengths = (before.count, length) }
            now.response?.body.bytes = Data(after.prefix(before.bytes.count))
            now.response?.trailers = recorded.response?.trailers
        }
        let comparison = ContentComparison(
            Self.tally(recorded, length: lengths?.before), copy: nil, Self.tally(now, length: lengths?.after),
            kinds: (recorded.transport ?? "", transport.name),
            sentNames: (entry.request.headerFields.map { $0 } + fields.of(entry)).map(\.name))
        let failure = recorded.failure.map { TerminalText.line($0.code.rawValue) }
        // A browser writes names as it likes.
        let ofNames = recorded.transport == nil ? ["fieldOrder", "fieldCase"] : []
        return Outcome(
            name: "\(entry.request)", status: recorded.response.map { "\($0.status)" } ?? failure ?? "nothing",
            differences: comparison.differences.filter { !ofNames.contains($0.place) }, extent: Extent(recorded),
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
                entry.isCut
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

    /// Reads the start of a body: twice the bytes that are compared, since a secret may be longer than its mark.
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
    /// Whether the end of the recorded body is not known.
    fileprivate var isCut: Bool { (response?.body.omitted ?? 0) > 0 || isIncomplete }

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

/// Header fields that replace the recorded ones. A secret one goes only with requests that had it when they were
/// recorded: a browser's file has requests to other parties too.
struct ReplacedFields: Sendable {
    private let all: [HTTPField]
    /// Whether all requests go to one origin: then a secret field reaches no other party.
    private let hasOneOrigin: Bool

    init(_ fields: [HTTPField], for entries: [Recording.Entry] = []) throws {
        all = fields
        let origins = Set(
            entries.map { entry in
                let url = try? RequestURL(entry.request.url)
                return url.map { "\($0.scheme)://\($0.host):\($0.effectivePort)" } ?? entry.request.url
            })
        hasOneOrigin = origins.count <= 1
        let orphan = fields.first { field in
            SecretFields.contains(field.name) && !entries.contains { $0.request.headerFields.contains(field.name) }
        }
        if let orphan, !hasOneOrigin {
            throw ToolFailure(
                .usage,
                "no recorded request has the field \(orphan.name), and they go to \(origins.count) origins; "
                    + "it would reach all of them")
        }
    }

    func of(_ entry: Recording.Entry) -> [HTTPField] {
        all.filter { field in
            !SecretFields.contains(field.name) || hasOneOrigin || entry.request.headerFields.contains(field.name)
        }
    }
}

/// The exchanges of a HAR file, without those that are no exchanges of HTTP, as browsers write them: of a WebSocket, of
/// a URL that has its data in it, of a script.
struct RecordedEntries {
    /// Each with its number in the file, from 1 on.
    let all: [(number: Int, entry: Recording.Entry)]
    /// What the user has to know of the file; empty if there is nothing.
    private(set) var notes: [String] = []

    init(har: Data, of name: String, acceptsIncomplete: Bool = false) throws {
        let recording = try Recording(har: har)
        if recording.isIncomplete {
            let text = "\(name) is incomplete: its program was ended, or reached the limit of the file"
            guard acceptsIncomplete else { throw NetworkError(.invalidRecording, text, phase: .preparing) }
            notes.append(text)
        }
        var others: [String: Int] = [:]
        var found: [(number: Int, entry: Recording.Entry)] = []
        for (index, entry) in recording.entries.enumerated() {
            if let scheme = Self.foreignScheme(of: entry.request.url) {
                others[scheme, default: 0] += 1
            } else {
                found.append((index + 1, entry))
            }
        }
        all = found
        guard !others.isEmpty else { return }
        let shown = others.sorted { $0.key < $1.key }.map { "\($0.value) of \($0.key):" }
        notes.append("of \(name), entries are left out: \(shown.joined(separator: ", "))")
    }

    var byStart: [Recording.Entry] { all.map(\.entry).sorted { $0.started < $1.started } }

    func say() async { for note in notes { await OutputWriter.say("netlayer: \(note)") } }

    /// Returns the scheme of a URL that HTTP does not carry; `nil` for a text without one, which is no URL at all.
    private static func foreignScheme(of url: String) -> String? {
        guard let end = url.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let scheme = String(url[..<end]).lowercasedASCII
        let isScheme = scheme.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x2B...0x39).contains($0) }
        return isScheme && !["http", "https"].contains(scheme) ? TerminalText.visible(scheme) : nil
    }
}
