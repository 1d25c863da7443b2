// swift-tools-version:6.2
import PackageDescription

/// As in the library's Package.swift.
let strict = Context.environment["NETWORKLAYER_WARNINGS_AS_ERRORS"] != nil
let settings: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ] + (strict ? [.unsafeFlags(["-warnings-as-errors"])] : [])
let toolSettings = settings + [.strictMemorySafety(), .enableUpcomingFeature("InternalImportsByDefault")]

func layer(_ name: String) -> Target.Dependency { .product(name: name, package: "NetworkLayer") }

/// A package of its own: who depends on the library neither fetches nor builds what only the tool needs, and the tool
/// uses only what the library offers to everybody.
let package = Package(
    name: "netlayer",
    products: [.executable(name: "netlayer", targets: ["netlayer"])],
    dependencies: [
        .package(name: "NetworkLayer", path: "../.."),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
    ],
    targets: [
        .executableTarget(
            name: "netlayer",
            dependencies: [
                layer("JSONText"), layer("NetworkComparison"), layer("NetworkConfiguration"), layer("NetworkLayer"),
                layer("NetworkRecording"), layer("NetworkRollout"), layer("NetworkTesting"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Histogram", package: "hdrhistogram-swift"),
            ],
            swiftSettings: toolSettings
        ),
        // Links to what the library's tests use too.
        .target(name: "ToolSupport", path: "Tests/ToolSupport", swiftSettings: settings),
        .testTarget(
            name: "NetlayerTests",
            dependencies: [
                "netlayer", "ToolSupport", layer("JSONText"), layer("NetworkComparison"), layer("NetworkLayer"),
                layer("NetworkRecording"), layer("NetworkTesting"),
            ],
            swiftSettings: settings
        ),
    ]
)
