// swift-tools-version:6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

func layer(_ name: String) -> Target.Dependency { .product(name: name, package: "NetworkLayer") }

/// A program that is measured.
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
        // What every contender in Swift shares: its command line, its workers, its figures.
        .target(name: "Bench", swiftSettings: settings),
        // What those of this library over libcurl share: its configuration.
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
