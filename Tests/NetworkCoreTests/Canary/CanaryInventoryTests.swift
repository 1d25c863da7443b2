import Foundation
import NetworkCore
import TestSupport
import Testing

/// A public type into which no secret is put is one that the canary knows nothing of.
@Suite("The canary's inventory", .timeLimit(.minutes(5)))
struct CanaryInventoryTests {
    /// Types that hold nothing of a caller's or a server's that may be secret, or are plain values like a text: who
    /// prints
    /// such a one prints what it holds.
    private static let harmless: [String: String] = [
        "ParameterValue": "a plain value, as a text is",
        "SecretFields": "no values", "MultipartBoundary": "no values", "NetworkLayerVersion": "no values",
        "AddressPolicy": "rules", "AddressRange": "addresses", "IPAddress": "an address",
        "APIError": "cases without values", "Code": "a name", "Phase": "cases without values",
        "InvalidText": "cases without values",
        "RetryBudget": "counts", "RetryPolicy": "counts and closures",
        "RetryInterceptor": "counts and closures", "TimeSource": "closures", "RequestAdapter": "a closure",
        "ResponseAdapter": "a closure", "LoggingInterceptor": "a logger and names",
        "Next": "steps, which are printed apart",
        "CurlCommandSecrets": "cases without values", "RequestCompression": "a level", "ContentEncoding": "a name",
        "HTTPVersion": "a name", "Version": "a name", "IPVersion": "a name", "Scheme": "a name",
        "Choice": "a proxy, printed apart",
        "LowSpeed": "numbers", "KeepAlive": "times", "UnixSocket": "a path", "StaticAddresses": "a name and addresses",
        "ConnectTo": "names and ports", "TransportCapability": "a name", "TransportCapabilities": "names",
        "Handler": "a closure", "WireLog": "a logger and names",
        "TransportMetrics": "times, counts and addresses",
        "Empty": "nothing", "JSONResponseDecoder": "a decoder", "ClosureResponseDecoder": "a closure",
        "ResponseValidation": "closures", "PublicSuffixList": "names",
        "DownloadOptions": "numbers",
        "DownloadedFile": "a path", "TransferProgress": "numbers", "ExpectedChecksum": "a checksum that is no secret",
        "SHA256Checksum": "a state of a sum", "ParameterConventions": "cases without values",
        "Arrays": "cases without values",
        "Objects": "cases without values", "Booleans": "cases without values", "Dates": "cases without values",
        "JSONContent": "a closure", "EventOptions": "times, and an id that is printed apart",
        "RedirectPolicy": "closures",
        "JSONLines": "a sequence over ResponseLines",
        "DemoServer": "an address", "DemoRoute": "names and a closure", "SocketFailure": "the system's words",
        "Gate": "open or not", "ClosedPort": "a port", "FullListener": "a port", "ManualClock": "times",
        "Instant": "a time", "StubMatcher": "the words of a test, and a closure", "PatternBytes": "a fixed pattern",
        "CRC32": "a sum", "Gzip": "no values",
    ]

    @Test("Each public type of the core and of NetworkTesting is in a place of the canary, or named here with a reason")
    func everyTypeIsThere() async throws {
        var printed: Set<String> = []
        let secret = try #require(CanarySecret.all.first)
        for place in CanaryTests.places {
            for value in place.exhibits(secret) { printed.formUnion(Self.names(of: value)) }
        }
        for exchange in CanaryExchange.all {
            for value in await exchange.run(secret).values { printed.formUnion(Self.names(of: value)) }
        }
        let declared = try Self.declaredTypes()
        #expect(declared.count > 80)
        let missing = declared.subtracting(printed).subtracting(Self.harmless.keys)
        #expect(missing.isEmpty, "neither printed by the canary nor called harmless: \(missing.sorted())")
        let gone = Set(Self.harmless.keys).subtracting(declared)
        #expect(gone.isEmpty, "called harmless, and not there: \(gone.sorted())")
    }

    /// The names in a value's type: `Optional<NetworkCore.NetworkError.Exchange>` has `Exchange` in it.
    private static func names(of value: Any) -> [String] {
        String(reflecting: type(of: value)).split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init)
    }

    private static func declaredTypes() throws -> Set<String> {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Sources")
        return try ["NetworkCore", "NetworkTesting"].reduce(into: []) { names, module in
            names.formUnion(try declaredTypes(in: sources.appending(path: module)))
        }
    }

    private static func declaredTypes(in folder: URL) throws -> Set<String> {
        let paths = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        let pattern = /^ *public (?:final )?(?:struct|class|enum|actor) (\w+)/.anchorsMatchLineEndings()
        var names: Set<String> = []
        for case let file as URL in paths where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            names.formUnion(text.matches(of: pattern).map { String($0.output.1) })
        }
        return names
    }
}
