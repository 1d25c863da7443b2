// swift-tools-version:6.2
import PackageDescription

// Apart from the other contenders: what AsyncHTTPClient brings along turns on traits of packages that they share, and
// `send` would then link more than its users do.
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
