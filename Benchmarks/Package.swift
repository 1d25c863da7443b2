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
        .package(name: "NetworkLayer", path: "..")
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
        contender("layer-urlsession", [layer("NetworkCore"), layer("URLSessionTransport")]),
        contender("raw-urlsession", []),
    ]
)
