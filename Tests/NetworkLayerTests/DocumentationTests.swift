import Foundation
import Testing

/// Checks that the samples of the documentation compile: each paragraph of a Swift sample is part of a file of this
/// target.
struct DocumentationTests {
    private static let catalogue = "Sources/NetworkLayer/NetworkLayer.docc"

    @Test(arguments: [
        ("README.md", "ReadmeSamples.swift"),
        ("\(catalogue)/NetworkLayer.md", "ArticleSamples.swift"),
        ("\(catalogue)/FirstRequest.md", "ArticleSamples.swift"),
        ("\(catalogue)/Errors.md", "ArticleSamples.swift"),
        ("\(catalogue)/ChoosingATransport.md", "ArticleSamples.swift"),
        (
            "\(catalogue)/ComingFromTheTutorials.md",
            "../NetworkLayerTutorialsTests/TutorialArticleSamples.swift"
        ),
        ("\(catalogue)/TestingYourCode.md", "TestingSamples.swift"),
        ("\(catalogue)/TheWayOfARequest.md", "PipelineSamples.swift"),
        ("\(catalogue)/RetriesTokensCookies.md", "PipelineSamples.swift"),
        ("\(catalogue)/Responses.md", "StreamSamples.swift"),
        ("\(catalogue)/DownloadsAndUploads.md", "StreamSamples.swift"),
        ("\(catalogue)/WritingATransport.md", "TransportSamples.swift"),
        ("\(catalogue)/ClientsAndBaseURLs.md", "ServiceSamples.swift"),
        ("\(catalogue)/SecureConnections.md", "ServiceSamples.swift"),
        ("\(catalogue)/LimitsAndConcurrency.md", "ServiceSamples.swift"),
        ("\(catalogue)/InAService.md", "ServiceSamples.swift"),
        ("\(catalogue)/Logging.md", "ServiceSamples.swift"),
        ("\(catalogue)/Resilience.md", "../NetworkResilienceTests/ResilienceSamples.swift"),
        ("\(catalogue)/Telemetry.md", "../../Examples/Services/Tests/TelemetryTests/TelemetrySamples.swift"),
        (
            "\(catalogue)/Configuration.md",
            "../../Examples/Services/Tests/ConfigurationTests/ConfigurationSamples.swift"
        ),
        ("\(catalogue)/ShadowAndCanary.md", "../NetworkRolloutTests/RolloutSamples.swift"),
        ("\(catalogue)/RecordingAndReplaying.md", "RecordingSamples.swift"),
        ("\(catalogue)/HTTPVersions.md", "ServiceSamples.swift"),
        ("\(catalogue)/ComingFromURLSession.md", "NewcomerSamples.swift"),
        ("\(catalogue)/ComingFromAlamofire.md", "NewcomerSamples.swift"),
        ("\(catalogue)/ComingFromAsyncHTTPClient.md", "NewcomerSamples.swift"),
    ])
    func `every sample in the documentation is compiled verbatim`(page: String, file: String) throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let package = folder.deletingLastPathComponent().deletingLastPathComponent()
        let compiled = Self.unindented(try String(contentsOf: folder.appending(path: file), encoding: .utf8))
        let shown = try String(contentsOf: package.appending(path: page), encoding: .utf8)

        let samples = Self.swiftSamples(in: shown)
        #expect(!samples.isEmpty)
        for sample in samples {
            for paragraph in sample.components(separatedBy: "\n\n") {
                #expect(compiled.contains(Self.unindented(paragraph)), "\(page) has a sample that \(file) lacks")
            }
        }
    }

    private static func swiftSamples(in page: String) -> [String] {
        page.components(separatedBy: "```swift\n").dropFirst().compactMap { $0.components(separatedBy: "\n```").first }
    }

    /// Returns the lines without their leading spaces, so that a sample may be inside a function.
    private static func unindented(_ text: String) -> String {
        text.components(separatedBy: "\n").map { String($0.drop { $0 == " " }) }.joined(separator: "\n")
    }
}
