// swift-tools-version:6.2
import PackageDescription

// A package of its own, so that the other examples do without swift-nio. scripts/check-examples builds it.
let package = Package(
    name: "NIOBridge",
    dependencies: [
        .package(name: "NetworkLayer", path: "../.."),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    ],
    targets: [
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
        )
    ]
)
