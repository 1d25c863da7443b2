// swift-tools-version:6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

func layer(_ name: String) -> Target.Dependency { .product(name: name, package: "NetworkLayer") }

/// Returns the target of a program to measure.
func contender(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: ["Bench"] + dependencies, swiftSettings: settings)
}

let package = Package(
    name: "Benchmarks",
    products: [.library(name: "Bench", targets: ["Bench"])],
    dependencies: [
        .package(name: "NetworkLayer", path: "..", traits: ["Tracing", "Metrics"]),
        // What the contender with steps keeps its spans, metrics and logs in.
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    ],
    targets: [
        // Shared by all contenders in Swift: the command line, the workers, the figures.
        .target(name: "Bench", swiftSettings: settings),
        // Shared by this library's contenders over libcurl: the configuration.
        .target(
            name: "CurlBench",
            dependencies: ["Bench", layer("NetworkCore"), layer("CurlTransport")],
            swiftSettings: settings
        ),
        contender("send", ["CurlBench", layer("NetworkCore"), layer("CurlTransport")]),
        contender("pipeline", ["CurlBench", layer("NetworkCore"), layer("CurlTransport")]),
        contender("typed", ["CurlBench", layer("NetworkCore"), layer("CurlTransport")]),
        contender(
            "steps",
            [
                "CurlBench", layer("NetworkCore"), layer("NetworkResilience"), layer("NetworkTelemetry"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        contender("layer-urlsession", [layer("NetworkCore"), layer("URLSessionTransport")]),
        contender("raw-urlsession", []),
    ]
)
