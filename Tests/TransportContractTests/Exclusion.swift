import NetworkLayer
import TestSupport
import Testing

/// A requirement of the contract that a transport does not meet. The same list is a table in the article 'Where the
/// transports differ'.
struct Exclusion: Sendable, CustomTestStringConvertible {
    /// The cases with an exclusion, under the names that the documentation uses.
    enum Case: String, CaseIterable {
        case requestFieldCase
        case repeatedRequestFields
        case bodyOnGet
        case rawBody
        case ipv6Literal
        case http1_0
        case headOfOddBytes
        case headWithoutSpaces
        case headWithoutReason
        case headWithBareLineFeeds
        case redirectWithoutLocation
        case truncatedGzip
        case trailers
        case fieldOrder
        case repeatedFieldsOfOtherCase
        case immediateReuse
        case headThatEndsEarly
        case conflictingLengths
        case redirectToOddHost
        case largeHead
        case backPressure
        case uploadOnAClosedConnection
        case headWithOddNames
        case enormousLength
        case manyFields
        case droppedFlood
        case nestedEncodings
        case slowUpload
        case resetInHandshake
        case methodCase
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

    static let all: [Exclusion] = [
        urlsession(.requestFieldCase, .fails, "names of header fields are re-cased"),
        urlsession(.repeatedRequestFields, .fails, "repeated header fields are sent as one, joined with commas"),
        urlsession(.bodyOnGet, .isUnsupported, "URLSession fails a GET with a body"),
        urlsession(.rawBody, .isUnsupported, "URLSession always decompresses"),
        urlsession(.ipv6Literal, .isUnsupported, "URLSession fails URLs with an IPv6 address"),
        urlsession(.http1_0, .isUnsupported, "URLSession chooses the version"),
        urlsession(.headOfOddBytes, .fails, "a header value that is not UTF-8 fails the whole response"),
        urlsession(.headWithoutSpaces, .fails, "a header line without a space after the colon fails the response"),
        urlsession(.headWithoutReason, .fails, "a status line without a reason and its space fails the response"),
        urlsession(.headWithBareLineFeeds, .fails, "lines that end in LF alone fail the response"),
        urlsession(
            .redirectWithoutLocation,
            .fails,
            "the body of a 301, 302, 303, 305, 306, 307 or 308 without a Location is lost"
        ),
        urlsession(.truncatedGzip, .fails, "a gzip body that ends early is taken for whole"),
        urlsession(.trailers, .isNotRun, "a response with trailers crashes the process"),
        urlsession(
            .headThatEndsEarly,
            .isNotRun,
            "a server that closes within the response's head crashes the process"
        ),
        urlsession(
            .redirectToOddHost,
            .isNotRun,
            "a redirect to `//` and a host with an IPv6 address or an escape in it crashes the process"
        ),
        urlsession(
            .conflictingLengths,
            .mayFail,
            "of two different Content-Length fields the last counts, unless the libcurl below is new enough to refuse"
        ),
        urlsession(.backPressure, .fails, "a body comes as fast as the server sends it, whether it is read or not"),
        urlsession(.headWithOddNames, .fails, "a header line whose name is empty or has spaces fails the response"),
        urlsession(
            .manyFields,
            .isNotRun,
            "thousands of header lines keep every URLSession of the process busy for seconds, tens of thousands for minutes"
        ),
        urlsession(
            .slowUpload,
            .mayFail,
            "what the system holds of a request's body counts as sent, so a server that takes it slowly looks idle"
        ),
        urlsession(
            .droppedFlood,
            .isNotRun,
            "a chunk's extension or interim responses without end may keep every URLSession of the process busy until the server stops"
        ),
        urlsession(
            .nestedEncodings,
            .isNotRun,
            "a body with several encodings, one over another, keeps every URLSession of the process busy for as long as libcurl decodes it"
        ),
        urlsession(.enormousLength, .isNotRun, "a Content-Length just below 2^63 crashes the process"),
        urlsession(
            .uploadOnAClosedConnection,
            .isNotRun,
            "a body on a kept-alive connection that the server closes is not sent again, and the exchange hangs"
        ),
        urlsession(
            .largeHead, .mayFail, "a libcurl below that is older than 8.3 and not patched accepts a head of any size"),
        urlsession(
            .repeatedFieldsOfOtherCase,
            .fails,
            "of header fields whose names differ in case alone, one is left"
        ),
        urlsession(
            .immediateReuse,
            .mayFail,
            "a connection is free only a moment after its response, so the next request may open another"
        ),
        urlsession(
            .resetInHandshake, .mayFail, "a reset in the TLS handshake is `connectionLost`, as if a request were out"),
        urlsession(.methodCase, .isUnsupported, "URLSession writes a method like `get` in capitals"),
        urlsession(.fieldOrder, .fails, "response header fields come sorted by name, repeated ones joined"),
    ]

    private static func urlsession(_ name: Case, _ expectation: Expectation, _ reason: String) -> Exclusion {
        Exclusion(
            transport: "urlsession",
            name: name,
            expectation: expectation,
            reason: reason,
            until: name.urlSessionEnd
        )
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
