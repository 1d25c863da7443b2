// swift-tools-version:6.2
import PackageDescription

// A service as it runs in production (scripts/shop, scripts/check-shop), and the tests of what only a trait brings
// (scripts/check-examples). A package of its own: a trait applies to a whole package, and the other examples do without
// swift-nio.
let settings: [SwiftSetting] = [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")]
let package = Package(
    name: "Services",
    dependencies: [
        .package(
            name: "NetworkLayer", path: "../..", traits: ["ServiceLifecycle", "Tracing", "Metrics", "Configuration"]),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        // The service in front.
        .executableTarget(
            name: "Shop",
            dependencies: [
                "Observability",
                .product(name: "CurlTransport", package: "NetworkLayer"),
                .product(name: "NetworkConfiguration", package: "NetworkLayer"),
                .product(name: "NetworkCore", package: "NetworkLayer"),
                .product(name: "NetworkResilience", package: "NetworkLayer"),
                .product(name: "NetworkTelemetry", package: "NetworkLayer"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: settings
        ),
        // What it calls: catalog, prices and stock are three processes of this program.
        .executableTarget(
            name: "Upstream",
            dependencies: [
                .product(name: "NetworkTelemetry", package: "NetworkLayer"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings
        ),
        // A backend of metrics for Prometheus and one of traces, both in memory.
        .target(
            name: "Observability",
            dependencies: [
                .product(name: "NetworkTelemetry", package: "NetworkLayer"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: settings
        ),
        .testTarget(name: "ObservabilityTests", dependencies: ["Observability"], swiftSettings: settings),
        .executableTarget(
            name: "Lifecycle",
            dependencies: [
                .product(name: "CurlTransport", package: "NetworkLayer"),
                .product(name: "NetworkCore", package: "NetworkLayer"),
                .product(name: "NetworkTesting", package: "NetworkLayer"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6)]
        ),
        .executableTarget(
            name: "NIOBridge",
            dependencies: [
                .product(name: "NetworkLayer", package: "NetworkLayer"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: [
                .swiftLanguageMode(.v6),
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"),
            ]
        ),
        // The tests of what only a trait brings.
        .testTarget(
            name: "TelemetryTests",
            dependencies: [
                .product(name: "CurlTransport", package: "NetworkLayer"),
                .product(name: "NetworkLayer", package: "NetworkLayer"),
                .product(name: "NetworkResilience", package: "NetworkLayer"),
                .product(name: "NetworkTelemetry", package: "NetworkLayer"),
                .product(name: "NetworkTesting", package: "NetworkLayer"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6)]
        ),
        .testTarget(
            name: "LifecycleTests",
            dependencies: [
                .product(name: "NetworkLayer", package: "NetworkLayer"),
                .product(name: "NetworkTelemetry", package: "NetworkLayer"),
                .product(name: "NetworkTesting", package: "NetworkLayer"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6)]
        ),
        .testTarget(
            name: "ConfigurationTests",
            dependencies: [
                .product(name: "NetworkConfiguration", package: "NetworkLayer"),
                .product(name: "NetworkLayer", package: "NetworkLayer"),
                .product(name: "NetworkTesting", package: "NetworkLayer"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "Logging", package: "swift-log"),
            ],
            // As in swift-configuration, whose protocol a test's provider conforms to.
            swiftSettings: [.swiftLanguageMode(.v6), .enableUpcomingFeature("NonisolatedNonsendingByDefault")]
        ),
    ]
)
