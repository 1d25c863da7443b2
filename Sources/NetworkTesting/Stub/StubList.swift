import NetworkCore

/// The stubs, the answers that are left, and the requests so far.
struct StubList: Sendable {
    private struct Stub: Sendable {
        let matcher: StubMatcher
        let answers: [StubAnswer]
        let repeats: Bool
        var given = 0

        var next: StubAnswer? {
            if repeats { return answers.first }
            return given < answers.count ? answers[given] : nil
        }

        /// The stub and its count, such as `GET /users (2 of 3 answers given)`.
        var text: String {
            if repeats { return "\(matcher.description) (always, given \(given) times)" }
            return "\(matcher.description) (\(given) of \(answers.count) answers given)"
        }

        var isUsed: Bool { repeats ? given > 0 : given == answers.count }
    }

    private var stubs: [Stub] = []
    private var unexpected: [SentRequest] = []
    private(set) var sent: [SentRequest] = []

    mutating func add(_ matcher: StubMatcher, answers: [StubAnswer], repeats: Bool) {
        stubs.append(Stub(matcher: matcher, answers: answers, repeats: repeats))
    }

    /// Returns the next answer for a request, and counts it as given.
    mutating func answer(to request: SentRequest) throws -> StubAnswer {
        sent.append(request)
        for index in stubs.indices where stubs[index].matcher.matches(request) {
            guard let answer = stubs[index].next else { continue }
            stubs[index].given += 1
            return answer
        }
        unexpected.append(request)
        let list = stubs.isEmpty ? "nothing" : stubs.map(\.text).joined(separator: "; ")
        throw NetworkError(.notStubbed, "\(request) is not stubbed; stubbed are: \(list)", phase: .preparing)
    }

    /// A sentence for each request without a stub and for each stub with answers left.
    var problems: [String] {
        unexpected.map { "\($0) was sent and is not stubbed" }
            + stubs.filter { !$0.isUsed }.map { "\($0.text) was not used up" }
    }
}
