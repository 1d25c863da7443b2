import Foundation
import NetworkComparison
import NetworkLayer
import TestSupport
import Testing

/// A requirement of the contract that a transport does not meet. The same list is a table in the article 'Where the
/// transports differ'.
struct Exclusion: Sendable, CustomTestStringConvertible {
    /// The cases with an exclusion, under the names that the documentation uses.
    enum Case: String, CaseIterable {
        case requestFieldCase, repeatedRequestFields, bodyOnGet, rawBody, ipv6Literal, http1_0, headOfOddBytes,
            headWithoutSpaces, headWithoutReason, headWithBareLineFeeds, redirectWithoutLocation, truncatedGzip,
            trailers, fieldOrder, repeatedFieldsOfOtherCase, immediateReuse, headThatEndsEarly, conflictingLengths,
            redirectToOddHost, largeHead, backPressure, uploadOnAClosedConnection, headWithOddNames, enormousLength,
            manyFields, droppedFlood, nestedEncodings, slowUpload, resetInHandshake, methodCase, streamedUpload,
            interimResponses, requestTrailers, expectContinue, brotliBody, versionCase, cache
    }

    enum Expectation {
        /// The case runs and must fail.
        case fails
        /// The case runs and may fail: it is a race, or a newer libcurl underneath does better.
        case mayFail
        /// The case runs and must be refused before anything is sent.
        case isUnsupported
        /// The case does not run: it would end or hang the process.
        case isNotRun
    }

    let transport: String
    let name: Case
    let expectation: Expectation
    let reason: String
    /// The toolchain or libcurl version that ends the exclusion.
    let until: String

    var testDescription: String { "\(transport): \(name.rawValue)" }

    /// Of each, the last text says what a Swift after 6.3 has to do so that the exclusion ends. All were observed with
    /// Swift 6.3.1 over libcurl 7.88.1.
    static let all: [Exclusion] = [
        urlsession(.requestFieldCase, .fails, "names of header fields are re-cased", "sends names as they are written"),
        urlsession(
            .repeatedRequestFields, .fails, "repeated header fields are sent as one, joined with commas",
            "sends repeated fields apart"),
        urlsession(.bodyOnGet, .isUnsupported, "URLSession fails a GET with a body", "sends it"),
        urlsession(.rawBody, .isUnsupported, "URLSession always decompresses", "can hand over the encoded bytes"),
        urlsession(
            .ipv6Literal, .isUnsupported, "URLSession fails URLs with an IPv6 address",
            "connects to such addresses"),
        urlsession(.http1_0, .isUnsupported, "URLSession chooses the version", "lets the version be chosen"),
        urlsession(
            .headOfOddBytes, .fails, "a header value that is not UTF-8 fails the whole response",
            "reads Latin-1"),
        urlsession(
            .headWithoutSpaces, .fails, "a header line without a space after the colon fails the response",
            "reads such a line"),
        urlsession(
            .headWithoutReason, .fails, "a status line without a reason and its space fails the response",
            "reads such a line"),
        urlsession(.headWithBareLineFeeds, .fails, "lines that end in LF alone fail the response", "reads such lines"),
        urlsession(
            .redirectWithoutLocation, .fails,
            "the body of a 301, 302, 303, 305, 306, 307 or 308 without a Location is lost",
            "keeps the body"),
        urlsession(
            .truncatedGzip, .fails, "a gzip body that ends early is taken for whole",
            "looks for the encoding's end"),
        urlsession(.trailers, .isNotRun, "a response with trailers crashes the process", "reads trailers"),
        urlsession(
            .headThatEndsEarly, .isNotRun, "a server that closes within the response's head crashes the process",
            "fails the exchange instead"),
        urlsession(
            .redirectToOddHost, .isNotRun,
            "a redirect to `//` and a host with an IPv6 address or an escape in it crashes the process",
            "fails the exchange instead"),
        urlsession(
            .conflictingLengths, .mayFail,
            "of two different Content-Length fields the last counts, unless the libcurl below is new enough to refuse",
            until: "any Swift, over a libcurl that refuses them"),
        urlsession(
            .backPressure, .fails, "a body comes as fast as the server sends it, whether it is read or not",
            "can suspend a task without damage to its body"),
        urlsession(
            .headWithOddNames, .fails, "a header line whose name is empty or has spaces fails the response",
            "reads past such a line"),
        urlsession(
            .manyFields, .isNotRun,
            "thousands of header lines keep every URLSession of the process busy for seconds, tens of thousands for minutes",
            "reads them in linear time"),
        urlsession(
            .slowUpload, .mayFail,
            "what the system holds of a request's body counts as sent, so a server that takes it slowly looks idle",
            "tells what the server has taken"),
        urlsession(
            .droppedFlood, .isNotRun,
            "a chunk's extension or interim responses without end may keep every URLSession of the process busy until the server stops",
            "lets a cancelled task come between two reads"),
        urlsession(
            .nestedEncodings, .isNotRun,
            "a body with several encodings, one over another, keeps every URLSession of the process busy for as long as libcurl decodes it",
            "decodes on its reader's side, and refuses more than two encodings"),
        urlsession(
            .enormousLength, .isNotRun, "a Content-Length just below 2^63 crashes the process",
            "fails the exchange instead"),
        urlsession(
            .uploadOnAClosedConnection, .isNotRun,
            "a body on a kept-alive connection that the server closes is not sent again, and the exchange hangs",
            "rewinds the body"),
        urlsession(
            .largeHead, .mayFail, "a libcurl below that is older than 8.3 and not patched accepts a head of any size",
            until: "any Swift, over a libcurl from 8.3 on"),
        urlsession(
            .repeatedFieldsOfOtherCase, .fails, "of header fields whose names differ in case alone, one is left",
            "keeps all of them"),
        urlsession(
            .immediateReuse, .mayFail,
            "a connection is free only a moment after its response, so the next request may open another",
            "frees the connection with the response"),
        urlsession(
            .resetInHandshake, .mayFail, "a reset in the TLS handshake is `connectionLost`, as if a request were out",
            "tells in which phase a connection ends"),
        urlsession(
            .methodCase, .isUnsupported, "URLSession writes a method like `get` in capitals",
            "sends methods as they are written"),
        urlsession(
            .streamedUpload, .isUnsupported,
            "a body that is produced while it is sent is sent empty, or crashes the process, when it has to be sent again",
            "begins the stream anew"),
        urlsession(
            .brotliBody, .isUnsupported, "URLSession accepts the codings of its own choice", "lets them be chosen"),
        urlsession(
            .versionCase, .mayFail, "a status line with `http/1.1` is taken for one of HTTP/1.1",
            "refuses such a line"),
        Exclusion(
            transport: "curl", name: .cache, expectation: .fails,
            reason: "no cache: a request is conditional if its caller makes it so", until: "never: by design"),
        Exclusion(
            transport: "urlsession", name: .cache, expectation: .fails,
            reason: "no cache: a request is conditional if its caller makes it so", until: "never: by design"),
        urlsession(.interimResponses, .fails, "interim responses are not reported", "reports them"),
        urlsession(
            .requestTrailers, .isUnsupported, "URLSession can't send trailer fields after a request's body",
            "sends them"),
        urlsession(
            .expectContinue, .isUnsupported, "URLSession has no wait for 100 Continue with a time of its own",
            "has such a wait"),
        urlsession(
            .fieldOrder, .fails, "response header fields come sorted by name, repeated ones joined",
            "keeps the order"),
    ]

    private static func urlsession(
        _ name: Case, _ expectation: Expectation, _ reason: String, _ change: String = "", until end: String? = nil
    ) -> Exclusion {
        Exclusion(
            transport: "urlsession", name: name, expectation: expectation, reason: reason,
            until: end ?? "a Swift after 6.3 whose URLSession \(change)")
    }
}

extension ContractTransport {
    /// Runs a case that may be excluded for this transport. An exclusion that is no longer needed fails the test.
    func run(
        _ name: Exclusion.Case,
        sourceLocation: SourceLocation = #_sourceLocation,
        body: () async throws -> Void
    ) async throws {
        guard let exclusion = Exclusion.all.first(where: { $0.transport == kind && $0.name == name }) else {
            try await body()
            return
        }
        // `scripts/contract-table` searches for this prefix.
        let comment: Comment = "excluded: \(exclusion.name.rawValue): \(exclusion.reason)"
        switch exclusion.expectation {
        case .fails: await withKnownIssue(comment, sourceLocation: sourceLocation) { try await body() }
        case .mayFail:
            await withKnownIssue(comment, isIntermittent: true, sourceLocation: sourceLocation) { try await body() }
        case .isUnsupported:
            try await withKnownIssue(comment, sourceLocation: sourceLocation) {
                try await body()
            } matching: { issue in
                (issue.error as? NetworkError)?.code == .unsupported
            }
        case .isNotRun:
            withKnownIssue(comment, sourceLocation: sourceLocation) { Issue.record("not run, to protect the process") }
        }
    }
}

struct ExclusionTests {
    private static let article = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Sources/NetworkLayer/NetworkLayer.docc/TransportDifferences.md").standardized

    @Test(arguments: Exclusion.all)
    func `an exclusion is in the documentation`(exclusion: Exclusion) throws {
        let text = try String(contentsOf: Self.article, encoding: .utf8)
        let row = text.split(separator: "\n").first {
            $0.hasPrefix("| `\(exclusion.name.rawValue)` | \(exclusion.transport) |")
        }
        let cells = try #require(row, "no row names \(exclusion.name.rawValue)")
        #expect(cells.contains(exclusion.reason))
        #expect(cells.contains(exclusion.until))
    }

    /// `unsupported` stands for all exclusions that are refused, `lowercaseNames` for HTTP/2.
    @Test func `a difference that a comparison knows is an exclusion`() {
        let names = Set(KnownDifference.all.map(\.name)).subtracting(["unsupported", "lowercaseNames"])
        #expect(names.isSubset(of: Exclusion.Case.allCases.map(\.rawValue)), "\(names)")
    }

    @Test func `exclusions are listed once`() {
        let names = Exclusion.all.map(\.testDescription)
        #expect(Set(names).count == names.count)
        #expect(Set(Exclusion.all.map(\.name)) == Set(Exclusion.Case.allCases))
    }
}
