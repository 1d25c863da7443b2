import NetworkCore

/// The stubs, the responses that are left, and the requests so far.
struct StubList: Sendable {
    private struct Stub: Sendable {
        let matcher: StubMatcher
        let responses: [StubResponse]
        let repeats: Bool
        var given = 0

        var next: StubResponse? {
            if repeats { return responses.first }
            return given < responses.count ? responses[given] : nil
        }

        /// The stub and its count, such as `GET /users (2 of 3 responses given)`.
        var text: String {
            if repeats { return "\(matcher.description) (always, given \(given) times)" }
            return "\(matcher.description) (\(given) of \(responses.count) responses given)"
        }

        var isUsed: Bool { repeats ? given > 0 : given == responses.count }
    }

    private var stubs: [Stub] = []
    private var unexpected: [SentRequest] = []
    private(set) var sent: [SentRequest] = []

    mutating func add(_ matcher: StubMatcher, responses: [StubResponse], repeats: Bool) {
        stubs.append(Stub(matcher: matcher, responses: responses, repeats: repeats))
    }

    /// Records a request.
    /// - Returns: The matchers of all stubs, in their order. They are the caller's closures, which may use the
    ///   dispatcher, so they are asked outside the lock.
    mutating func receive(_ request: SentRequest) -> [StubMatcher] {
        sent.append(request)
        return stubs.map(\.matcher)
    }

    /// Returns the next response of a stub that matches, and counts it as given; `nil` if none is left.
    mutating func takeResponse(ofStub index: Int) -> StubResponse? {
        guard let response = stubs[index].next else { return nil }
        stubs[index].given += 1
        return response
    }

    /// Records that no stub had a response for a request.
    /// - Returns: The error that names the request and the stubs.
    mutating func miss(_ request: SentRequest) -> NetworkError {
        unexpected.append(request)
        let list = stubs.isEmpty ? "nothing" : stubs.map(\.text).joined(separator: "; ")
        let query = request.query.isEmpty ? "" : "; the query that was sent is in `sent` of the stub"
        return NetworkError(.notStubbed, "\(request) is not stubbed; stubbed are: \(list)\(query)", phase: .preparing)
    }

    /// A sentence for each request without a stub and for each stub with responses left.
    var problems: [String] {
        unexpected.map { "\($0) was sent and is not stubbed" }
            + stubs.filter { !$0.isUsed }.map { "\($0.text) was not used up" }
    }
}
