// swift-tools-version:6.2
import PackageDescription

// A package of its own, because traits apply to a whole package. scripts/check-lifecycle builds it.
let package = Package(
    name: "Lifecycle",
    dependencies: [
        .package(name: "NetworkLayer", path: "../..", traits: ["ServiceLifecycle"]),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    ],
    targets: [
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
        )
    ]
)
