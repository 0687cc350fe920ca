// swift-tools-version: 6.2

import PackageDescription

// A package of its own, so that nobody who uses Vellum resolves what only the tool needs.
// `make tool` builds it and runs its tests. The folder of the repository may have any name but
// `tools`, which would be that of this package, too.
let package = Package(
    name: "VellumTool",
    platforms: [.macOS(.v15)],
    products: [.executable(name: "vellum", targets: ["vellum"])],
    dependencies: [
        .package(name: "Vellum", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.5.0"),
        // What the library logs is told as errors are.
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.0"),
    ],
    targets: [
        // All of it but `main`: what tests can call.
        .target(
            name: "VellumToolKit",
            dependencies: [
                .product(name: "VellumFiles", package: "Vellum"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .executableTarget(name: "vellum", dependencies: ["VellumToolKit"]),
        // Makes the files of `check.sh`.
        .executableTarget(
            name: "Sample",
            dependencies: [
                .product(name: "Vellum", package: "Vellum"),
                .product(name: "MiniCache", package: "Vellum"),
            ],
            path: "Tests/Sample"
        ),
        .testTarget(
            name: "VellumToolKitTests",
            dependencies: [
                "VellumToolKit",
                .product(name: "Vellum", package: "Vellum"),
                .product(name: "MiniCache", package: "Vellum"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)

/// The language of the package in the root.
for target in package.targets {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .enableUpcomingFeature("InferIsolatedConformances"),
    ]
}
