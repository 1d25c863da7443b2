// swift-tools-version:6.2
import PackageDescription

/// One list for every target. CI sets NETWORKLAYER_WARNINGS_AS_ERRORS; a package that depends on this one never does,
/// so the unsafe flag stays out of its build.
let strict = Context.environment["NETWORKLAYER_WARNINGS_AS_ERRORS"] != nil
/// scripts/fuzz sets NETWORKLAYER_FUZZ: the libraries are instrumented, and there is one program more.
let fuzzes = Context.environment["NETWORKLAYER_FUZZ"] != nil
let settings: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ] + (strict ? [.unsafeFlags(["-warnings-as-errors"])] : [])
    + (fuzzes ? [.unsafeFlags(["-sanitize=fuzzer", "-O"])] : [])
/// The compiler names each unsafe use, and scripts/lint keeps them in the folders called Interop.
let librarySettings =
    settings + [.strictMemorySafety(), .enableUpcomingFeature("InternalImportsByDefault")]

let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let serviceLifecycle: Target.Dependency = .product(
    name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["ServiceLifecycle"]))
let package = Package(
    name: "NetworkLayer",
    products: [
        .library(name: "NetworkLayer", targets: ["NetworkLayer"]),
        .library(name: "NetworkLayerTutorials", targets: ["NetworkLayerTutorials"]),
        .library(name: "JSONText", targets: ["JSONText"]),
        .library(name: "NetworkComparison", targets: ["NetworkComparison"]),
        .library(name: "NetworkCore", targets: ["NetworkCore"]),
        .library(name: "CurlTransport", targets: ["CurlTransport"]),
        .library(name: "URLSessionTransport", targets: ["URLSessionTransport"]),
        .library(name: "NetworkRecording", targets: ["NetworkRecording"]),
        .library(name: "NetworkRollout", targets: ["NetworkRollout"]),
        .library(name: "NetworkTesting", targets: ["NetworkTesting"]),
        .library(name: "NetworkTelemetry", targets: ["NetworkTelemetry"]),
        .library(name: "NetworkResilience", targets: ["NetworkResilience"]),
        .library(name: "NetworkConfiguration", targets: ["NetworkConfiguration"]),
        .library(name: "NetworkURLSession", targets: ["NetworkURLSession"]),
    ],
    traits: [
        .trait(
            name: "ServiceLifecycle",
            description: "The transports and clients are Services of swift-service-lifecycle, which ends them in order"
        ),
        .trait(name: "Tracing", description: "The spans of the product NetworkTelemetry"),
        .trait(name: "Metrics", description: "The metrics of the product NetworkTelemetry"),
        .trait(
            name: "Configuration",
            description: "NetworkConfiguration reads its settings from a reader of swift-configuration"
        ),
    ],
    dependencies: [
        // Without its default trait the types need no Foundation, and a curl-only program stays free of ICU.
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        // Each of these is only checked out and built with its trait.
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CCurl",
            path: "Sources/CCurl",
            providers: [.apt(["libcurl4-openssl-dev"])]
        ),
        // libcurl needs it too, so it is there wherever libcurl is.
        .systemLibrary(name: "CZlib", path: "Sources/CZlib", providers: [.apt(["zlib1g-dev"])]),
        // Glibc or Musl.
        .target(name: "CLibrary", swiftSettings: librarySettings),
        // A reader and a writer of JSON that keep digits and order.
        .target(name: "JSONText", swiftSettings: librarySettings),
        .target(
            name: "NetworkCore", dependencies: ["CLibrary", "CZlib", "JSONText", httpTypes, logging],
            swiftSettings: librarySettings
        ),
        .target(
            name: "CurlTransport",
            dependencies: [
                "CCurl", "CLibrary", "CZlib", "NetworkCore", httpTypes, logging, serviceLifecycle,
            ],
            swiftSettings: librarySettings
        ),
        .target(name: "URLSessionTransport", dependencies: ["NetworkCore", httpTypes], swiftSettings: librarySettings),
        .target(
            name: "NetworkLayer",
            dependencies: ["CurlTransport", "NetworkCore", "URLSessionTransport", serviceLifecycle],
            swiftSettings: librarySettings
        ),
        // The names that the tutorials give to what NetworkLayer has.
        .target(
            name: "NetworkLayerTutorials", dependencies: ["NetworkCore", "NetworkLayer", httpTypes],
            swiftSettings: librarySettings
        ),
        .target(
            name: "NetworkTesting", dependencies: ["CLibrary", "NetworkCore", httpTypes], swiftSettings: librarySettings
        ),
        // Exchanges in files: HAR, a transport that records and one that replays.
        .target(
            name: "NetworkRecording", dependencies: ["NetworkCore", httpTypes, logging], swiftSettings: librarySettings
        ),
        // Whether two transports differ: statistics, and responses part by part.
        .target(
            name: "NetworkComparison", dependencies: ["JSONText", "NetworkCore"], swiftSettings: librarySettings),
        // A second transport in a running service: a shadow, a canary.
        .target(
            name: "NetworkRollout",
            dependencies: ["CLibrary", "NetworkComparison", "NetworkCore", "NetworkLayer", logging],
            swiftSettings: librarySettings
        ),
        // Steps against servers that fail or are slow.
        .target(
            name: "NetworkResilience", dependencies: ["CLibrary", "NetworkCore", httpTypes],
            swiftSettings: librarySettings
        ),
        // Spans and metrics. Without its traits it is empty; its tests are in Examples/Services, which has them.
        .target(
            name: "NetworkTelemetry",
            dependencies: [
                "NetworkCore", httpTypes, serviceLifecycle,
                .product(name: "Tracing", package: "swift-distributed-tracing", condition: .when(traits: ["Tracing"])),
                .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
            ],
            swiftSettings: librarySettings
        ),
        // A client and its transport by the keys of a configuration, from swift-configuration with its trait.
        .target(
            name: "NetworkConfiguration",
            dependencies: [
                "CurlTransport", "NetworkCore", "NetworkLayer", "NetworkResilience", httpTypes,
                .product(
                    name: "Configuration", package: "swift-configuration", condition: .when(traits: ["Configuration"])),
            ],
            swiftSettings: librarySettings
        ),
        // URLSession's interface over a client, for code that was written for Apple's platforms.
        .target(
            name: "NetworkURLSession", dependencies: ["NetworkCore", "NetworkLayer", httpTypes],
            swiftSettings: librarySettings
        ),
        // What the test targets share.
        .target(
            name: "TestSupport", dependencies: ["CLibrary", "NetworkCore", "NetworkTesting", logging],
            path: "Tests/TestSupport", swiftSettings: settings),
        .testTarget(
            name: "NetworkCoreTests",
            dependencies: [
                "NetworkCore", "NetworkLayerTutorials", "NetworkTesting", "TestSupport", httpTypes, logging,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "NetworkTestingTests",
            dependencies: ["CurlTransport", "NetworkCore", "NetworkTesting", "TestSupport"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "CurlTransportTests",
            dependencies: ["CLibrary", "CurlTransport", "NetworkTesting", "TestSupport", httpTypes, logging],
            swiftSettings: settings
        ),
        .testTarget(
            name: "URLSessionTransportTests",
            dependencies: ["URLSessionTransport", "NetworkTesting", "TestSupport"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "NetworkLayerTests",
            dependencies: [
                "NetworkLayer", "NetworkLayerTutorials", "NetworkRecording", "NetworkTesting", "TestSupport", logging,
            ],
            exclude: ["Fixtures"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "NetworkLayerTutorialsTests",
            dependencies: ["NetworkLayer", "NetworkLayerTutorials", "NetworkTesting", "TestSupport"],
            swiftSettings: settings
        ),
        // The tutorials are older than Swift 6, and their code is to compile as it stands.
        .testTarget(
            name: "TutorialTests",
            dependencies: ["NetworkLayer", "NetworkLayerTutorials", "NetworkTesting", "TestSupport"],
            swiftSettings: [.swiftLanguageMode(.v5)]
        ),
        .testTarget(
            name: "TransportContractTests",
            dependencies: [
                "NetworkComparison", "NetworkLayer", "NetworkLayerTutorials", "NetworkTesting", "TestSupport",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "NetworkComparisonTests",
            dependencies: ["JSONText", "NetworkComparison", "NetworkCore", "TestSupport"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "NetworkRecordingTests",
            dependencies: [
                "NetworkCore", "NetworkLayer", "NetworkRecording", "NetworkTesting", "TestSupport", logging,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "NetworkRolloutTests",
            dependencies: ["NetworkLayer", "NetworkRollout", "NetworkTesting", "TestSupport"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "NetworkResilienceTests",
            dependencies: [
                "CurlTransport", "NetworkCore", "NetworkResilience", "NetworkTesting", "TestSupport", httpTypes,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "NetworkConfigurationTests",
            dependencies: ["NetworkConfiguration", "NetworkLayer", "NetworkTesting", "TestSupport"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "NetworkURLSessionTests",
            dependencies: ["NetworkURLSession", "NetworkTesting", "TestSupport"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "IntegrationTests",
            dependencies: ["NetworkLayer", "NetworkTesting", "TestSupport"],
            swiftSettings: settings
        ),
    ]
)

if fuzzes {
    let instrumented = settings + [.unsafeFlags(["-parse-as-library"])]
    let linked: [LinkerSetting] = [.unsafeFlags(["-sanitize=fuzzer"])]
    package.targets += [
        .executableTarget(
            name: "fuzz",
            dependencies: ["CurlTransport", "NetworkCore", httpTypes],
            path: "Fuzz/Parsers",
            swiftSettings: instrumented,
            linkerSettings: linked
        ),
        .executableTarget(
            name: "fuzzwhole",
            dependencies: ["CLibrary", "CurlTransport", "NetworkCore", httpTypes, logging],
            path: "Fuzz/Whole",
            exclude: ["README.md"],
            swiftSettings: instrumented,
            linkerSettings: linked
        ),
    ]
}
