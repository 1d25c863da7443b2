// swift-tools-version:6.2
import PackageDescription

// A separate package, because the dependencies of AsyncHTTPClient enable traits of shared packages, and `send` would
// then link more than in its users' programs.
let package = Package(
    name: "AsyncHTTPClientPeer",
    dependencies: [
        .package(name: "Benchmarks", path: ".."),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.81.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.27.0"),
    ],
    targets: [
        .executableTarget(
            name: "ahc",
            dependencies: [
                .product(name: "Bench", package: "Benchmarks"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6)]
        )
    ]
)
