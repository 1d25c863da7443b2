import Foundation
import NetworkCore
import TestSupport
import Testing

/// Finds public types that the canary never fills with a secret.
@Suite("The canary's inventory", .patience(minutes: 5))
struct CanaryInventoryTests {
    /// Types without secrets of a caller or a server, and plain values such as text, whose printed form is their
    /// content.
    private static let harmless: [String: String] = [
        "ParameterValue": "a plain value, as a text is",
        "SecretFields": "no values", "NetworkLayerVersion": "no values",
        "AddressPolicy": "rules", "AddressPolicy.Range": "addresses", "AddressPolicy.Address": "an address",
        "APIError": "cases without values", "NetworkError.Code": "a name", "NetworkError.Phase": "cases without values",
        "ResponseLines.InvalidText": "cases without values",
        "RetryInterceptor.Budget": "counts", "RetryInterceptor.Policy": "counts and closures",
        "RetryInterceptor": "counts and closures", "TimeSource": "closures", "RequestAdapter": "a closure",
        "ResponseAdapter": "a closure", "LoggingInterceptor": "a logger and names",
        "NetworkClient.Next": "steps, which are printed apart",
        "TransportRequest.CurlSecrets": "cases without values", "TransportOptions.RequestCompression": "a level",
        "TransportOptions.ContentEncoding": "a name",
        "TransportOptions.HTTPVersion": "a name",
        "TransportOptions.TLS.Version": "a name",
        "TransportOptions.Connection.IPVersion": "a name",
        "TransportOptions.Proxy.Server.AuthenticationScheme": "a name",
        "TransportOptions.Proxy": "a proxy, printed apart",
        "TransportOptions.Rate.LowSpeed": "numbers", "TransportOptions.Connection.KeepAlive": "times",
        "TransportOptions.Connection.UnixSocket": "a path",
        "TransportOptions.Names.StaticAddresses": "a name and addresses",
        "TransportOptions.Names.ConnectTo": "names and ports", "TransportCapabilities.Capability": "a name",
        "TransportCapabilities": "names",
        "WireLog": "a logger and names",
        "TransportMetrics": "times, counts and addresses",
        "TransportStatistics": "counts, times and origins", "TransportStatistics.Connections": "counts and a time",
        "TransportStatistics.Loops": "counts and times", "Figure": "a name and a number", "Figure.Kind": "two words",
        "Empty": "nothing", "JSONRequestEncoder": "an encoder", "JSONResponseDecoder": "a decoder",
        "ClosureResponseDecoder": "a closure",
        "ResponseValidation": "closures", "CookieJar.PublicSuffixList": "names",
        "DownloadedFile.Options": "numbers",
        "DownloadedFile": "a path", "TransferProgress": "numbers",
        "DownloadedFile.ExpectedChecksum": "a checksum that is no secret",
        "SHA256Checksum": "a state of a sum", "RequestData.Conventions": "cases without values",
        "RequestData.Conventions.Arrays": "cases without values",
        "RequestData.Conventions.Objects": "cases without values",
        "RequestData.Conventions.Booleans": "cases without values",
        "RequestData.Conventions.Dates": "cases without values",
        "RedirectPolicy": "closures",
        "JSONLines": "a sequence over ResponseLines", "JSONLines.AsyncIterator": "a sequence over ResponseLines",
        "JSONParameterEncoder": "no values", "URLParameterEncoder": "no values", "Router": "a client and tasks",
        "DemoServer": "an address", "DemoRoute": "names and a closure", "SocketFailure": "the system's words",
        "Gate": "open or not", "ClosedPort": "a port", "FullListener": "a port", "ManualClock": "times",
        "ManualClock.Instant": "a time", "StubMatcher": "the words of a test, and a closure",
        "PatternBytes": "a fixed pattern",
        "Gzip": "no values",
    ]

    @Test
    func `each public type of the core and of NetworkTesting has a canary place, or a reason for having none`()
        async throws
    {
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
        #expect(missing.isEmpty, "neither printed by the canary nor listed as harmless: \(missing.sorted())")
        let gone = Set(Self.harmless.keys).subtracting(declared)
        #expect(gone.isEmpty, "listed as harmless but not declared: \(gone.sorted())")
    }

    /// Returns the types in a value's type, without their modules: `Optional<NetworkCore.NetworkError.Exchange>`
    /// contains `NetworkError.Exchange`.
    private static func names(of value: Any) -> [String] {
        String(reflecting: type(of: value)).split { !$0.isLetter && !$0.isNumber && $0 != "_" && $0 != "." }
            .map { $0.drop { $0 != "." }.dropFirst() }.map(String.init)
    }

    private static func declaredTypes() throws -> Set<String> {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Sources")
        return try ["NetworkCore", "NetworkLayerTutorials", "NetworkTesting"].reduce(into: []) { names, module in
            names.formUnion(try declaredTypes(in: sources.appending(path: module)))
        }
    }

    private static func declaredTypes(in folder: URL) throws -> Set<String> {
        let paths = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        let pattern =
            /^( *)(public |package |private |fileprivate )?(?:final )?(struct|class|enum|actor|protocol|extension) ([\w.]+)/
        var names: Set<String> = []
        for case let file as URL in paths where file.pathExtension == "swift" {
            // The declarations that enclose a line, with their indentation.
            var around: [(indentation: Int, name: String)] = []
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                guard let found = line.prefixMatch(of: pattern)?.output else { continue }
                around.removeAll { $0.indentation >= found.1.count }
                around.append((found.1.count, String(found.4)))
                guard found.2 == "public ", !["protocol", "extension"].contains(found.3) else { continue }
                names.insert(around.map(\.name).joined(separator: "."))
            }
        }
        return names
    }
}
