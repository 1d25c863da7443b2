// swift-tools-version:6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

func product(_ name: String) -> Target.Dependency { .product(name: name, package: "NetworkLayer") }

let tutorials = [product("NetworkLayer"), product("NetworkLayerTutorials")]

let package = Package(
    name: "Examples",
    dependencies: [
        .package(name: "NetworkLayer", path: ".."),
        // Its program is built besides, with the library that is there already.
        .package(path: "../Tools/netlayer"),
    ],
    targets: [
        .executableTarget(
            name: "CurlOnly",
            dependencies: [product("NetworkCore"), product("CurlTransport")],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "Streaming",
            dependencies: [product("NetworkCore"), product("CurlTransport")],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "ManyInFlight",
            dependencies: [product("NetworkCore"), product("CurlTransport")],
            swiftSettings: settings
        ),
        .executableTarget(name: "TutorialUsers", dependencies: [product("NetworkLayer")], swiftSettings: settings),
        .executableTarget(name: "TutorialService", dependencies: tutorials, swiftSettings: settings),
        .executableTarget(name: "TutorialMovies", dependencies: tutorials, swiftSettings: settings),
        .executableTarget(name: "TutorialNotes", dependencies: tutorials, swiftSettings: settings),
        .executableTarget(name: "TutorialRouter", dependencies: tutorials, swiftSettings: settings),
        .executableTarget(name: "Encoders", dependencies: [product("NetworkLayer")], swiftSettings: settings),
        // Extensions of the library that use only its public API.
        .executableTarget(name: "Outside", dependencies: [product("NetworkLayer")], swiftSettings: settings),
        .executableTarget(name: "Pipeline", dependencies: [product("NetworkLayer")], swiftSettings: settings),
        .executableTarget(name: "Downloads", dependencies: [product("NetworkLayer")], swiftSettings: settings),
        .executableTarget(name: "Events", dependencies: [product("NetworkLayer")], swiftSettings: settings),
        .executableTarget(name: "BothTransports", dependencies: [product("NetworkLayer")], swiftSettings: settings),
        // Code for Apple's platforms, in the mode in which most of it is written.
        .executableTarget(
            name: "AppleSDK", dependencies: [product("NetworkURLSession")], swiftSettings: [.swiftLanguageMode(.v5)]),
        // Not examples but test programs for the library, run by the scripts with their names.
        .target(
            name: "TrialSupport", dependencies: [product("NetworkCore")], path: "Trials/TrialSupport",
            swiftSettings: settings),
        .executableTarget(
            name: "Soak",
            dependencies: ["TrialSupport", product("NetworkLayer"), product("NetworkTesting")],
            path: "Trials/Soak",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "Isolation",
            dependencies: ["TrialSupport", product("NetworkLayer"), product("NetworkTesting")],
            path: "Trials/Isolation",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "Heartbeat",
            dependencies: [
                "TrialSupport", product("NetworkCore"), product("CurlTransport"), product("NetworkTesting"),
            ],
            path: "Trials/Heartbeat",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "Resilience",
            dependencies: [product("NetworkCore"), product("CurlTransport"), product("NetworkResilience")],
            path: "Trials/Resilience",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "Balancing",
            dependencies: [
                "TrialSupport", product("NetworkCore"), product("CurlTransport"), product("NetworkResilience"),
            ],
            path: "Trials/Balancing",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "URLSessionFaults",
            dependencies: ["TrialSupport", product("NetworkLayer"), product("NetworkTesting")],
            path: "Trials/URLSessionFaults",
            swiftSettings: settings
        ),
    ]
)
