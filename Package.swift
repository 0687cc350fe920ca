// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "Vellum",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Vellum", targets: ["Vellum"]),
        .library(name: "TiersTesting", targets: ["TiersTesting"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-log.git", from: "1.6.0")
    ],
    targets: [
        // The engine.
        .target(name: "Tiers", dependencies: [.product(name: "Logging", package: "swift-log")]),
        .target(
            name: "TiersSQLite",
            dependencies: [
                "Tiers", "CChecksum",
                .target(name: "CSQLite", condition: .when(platforms: [.linux])),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .target(name: "CChecksum"),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "TiersTesting", dependencies: ["Tiers"]),

        // The faces.
        .target(
            name: "Vellum",
            dependencies: ["Tiers", "TiersSQLite", .product(name: "Logging", package: "swift-log")]
        ),

        // The main job on real data.
        .executableTarget(name: "Airports", dependencies: ["Vellum"], path: "Examples/Airports", resources: [.copy("Data")]),
    ],
    swiftLanguageModes: [.v6]
)

/// One language for every target; a target's own settings come first.
for target in package.targets where [.regular, .executable, .test].contains(target.type) && target.name != "CChecksum" {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("MemberImportVisibility"),
            .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
            .enableUpcomingFeature("InferIsolatedConformances"),
        ]
}
