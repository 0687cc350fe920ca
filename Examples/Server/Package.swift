// swift-tools-version: 6.2

import PackageDescription

// A package of its own, so that nobody who uses Vellum resolves what only this example needs.
// `make server` builds it and runs its tests. The folder of the repository may have any name but
// `server`, which would be that of this package, too.
let package = Package(
    name: "VellumServer",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Vellum", path: "../..", traits: ["Metrics"]),
        // Without its traits, which add the reading of configurations.
        .package(
            url: "https://github.com/hummingbird-project/hummingbird.git",
            from: "2.28.0",
            traits: []
        ),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.5.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.8.0"),
    ],
    targets: [
        .executableTarget(
            name: "Server",
            dependencies: [
                .product(name: "Vellum", package: "Vellum"),
                .product(name: "MiniCache", package: "Vellum"),
                .product(name: "VellumMetrics", package: "Vellum"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]
        ),
        // Starts the built program, as a process of its own; and the adapter of the guide for
        // sessions.
        .testTarget(
            name: "ServerTests",
            dependencies: [
                "Server",
                .product(name: "Vellum", package: "Vellum"),
                .product(name: "MiniCache", package: "Vellum"),
                .product(name: "CBORCoding", package: "Vellum"),
                .product(name: "Hummingbird", package: "hummingbird"),
            ]
        ),
    ]
)
