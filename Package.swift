// swift-tools-version: 6.2

import Foundation
import PackageDescription

let package = Package(
    name: "Vellum",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Vellum", targets: ["Vellum"]),
        .library(name: "MiniCache", targets: ["MiniCache"]),
        .library(name: "Shallows", targets: ["Shallows"]),
        .library(name: "ShallowsStatic", type: .static, targets: ["Shallows"]),
        .library(name: "ShallowsDynamic", type: .dynamic, targets: ["Shallows"]),
        .library(name: "ShallowsSQLite", targets: ["ShallowsSQLite"]),
        .library(name: "CBORCoding", targets: ["CBORCoding"]),
        .library(name: "TiersTesting", targets: ["TiersTesting"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-log.git", from: "1.6.0")
    ],
    targets: [
        // A coder of bytes, which knows nothing of the rest.
        .target(name: "CBORCoding"),

        // The engine.
        .target(name: "Tiers", dependencies: ["CBORCoding", .product(name: "Logging", package: "swift-log")]),
        .target(
            name: "TiersSQLite",
            dependencies: [
                "Tiers", "CChecksum", "CSQLiteConfig",
                .target(name: "CSQLite", condition: .when(platforms: [.linux])),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .target(name: "CChecksum"),
        // Calls of SQLite's C API that Swift does not import.
        .target(
            name: "CSQLiteConfig", dependencies: [.target(name: "CSQLite", condition: .when(platforms: [.linux]))],
            linkerSettings: [.linkedLibrary("sqlite3")]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "TiersTesting", dependencies: ["Tiers"]),

        // The faces.
        .target(
            name: "Vellum",
            dependencies: ["Tiers", "TiersSQLite", .product(name: "Logging", package: "swift-log")]
        ),
        .target(
            name: "MiniCache",
            dependencies: ["CBORCoding", "Tiers", "TiersSQLite", .product(name: "Logging", package: "swift-log")]
        ),
        .target(name: "Shallows", dependencies: ["Tiers", .product(name: "Logging", package: "swift-log")]),
        .target(
            name: "ShallowsSQLite",
            dependencies: ["Shallows", "Tiers", "TiersSQLite", .product(name: "Logging", package: "swift-log")]
        ),

        // The main job on real data.
        .executableTarget(name: "Airports", dependencies: ["Vellum"], path: "Examples/Airports", resources: [.copy("Data")]),
        // A cache before a slow source that fails.
        .executableTarget(name: "ExchangeRates", dependencies: ["MiniCache"], path: "Examples/ExchangeRates"),

        // Tests: one target for each of the sources, then the seeds as clients see them, then processes that are killed.
        .testTarget(name: "CBORCodingTests", dependencies: ["CBORCoding"]),
        .testTarget(name: "TiersTests", dependencies: ["Tiers", "TiersTesting"]),
        .testTarget(
            name: "TiersSQLiteTests",
            dependencies: ["TiersSQLite", "TiersTesting", "CChecksum", "RawDatabase"]),
        .testTarget(name: "VellumTests", dependencies: ["Vellum", "MiniCache", "TiersTesting"]),
        .testTarget(
            name: "MiniCacheTests", dependencies: ["MiniCache", "TiersTesting", "RawDatabase"]),
        .testTarget(name: "ShallowsTests", dependencies: ["Shallows", "TiersTesting"]),
        .testTarget(name: "ShallowsSQLiteTests", dependencies: ["ShallowsSQLite", "TiersTesting"]),
        .testTarget(
            name: "ParitySwift6Tests", dependencies: ["Vellum", "MiniCache", "Shallows", "ShallowsSQLite"], path: "Tests/ParityTests/Swift6"
        ),
        .testTarget(
            name: "ParitySwift5Tests", dependencies: ["Vellum", "MiniCache", "Shallows", "ShallowsSQLite"],
            path: "Tests/ParityTests/Swift5",
            swiftSettings: [.swiftLanguageMode(.v5)]),
        .testTarget(
            name: "ParityMainActorTests", dependencies: ["Vellum", "MiniCache", "Shallows", "ShallowsSQLite"],
            path: "Tests/ParityTests/MainActor",
            swiftSettings: [.defaultIsolation(MainActor.self)]),
        // A database as SQLite alone sees it, for tests that look behind a store or damage it.
        .target(
            name: "RawDatabase", dependencies: [.target(name: "CSQLite", condition: .when(platforms: [.linux]))], path: "Tests/RawDatabase"),
        // What tests of reliability run: a disk that fails and forgets as it is told, a script of operations and what it must leave.
        .target(
            name: "ScriptedDisk", dependencies: ["Tiers", .target(name: "CSQLite", condition: .when(platforms: [.linux]))],
            path: "Tests/ScriptedDisk"),
        .target(name: "CrashScript", dependencies: ["Tiers", "TiersSQLite", "TiersTesting"], path: "Tests/CrashScript"),
        .executableTarget(
            name: "CrashChild", dependencies: ["Vellum", "Tiers", "TiersSQLite", "TiersTesting", "CrashScript", "RawDatabase"],
            path: "Tests/CrashChild"),
        .testTarget(
            name: "CrashTests",
            dependencies: [
                "Vellum", "Tiers", "TiersSQLite", "TiersTesting", "CrashScript", "CrashChild", "RawDatabase",
            ]),
        .testTarget(
            name: "ReliabilityTests",
            dependencies: [
                "TiersSQLite", "Tiers", "TiersTesting", "ScriptedDisk", .target(name: "CSQLite", condition: .when(platforms: [.linux])),
            ]),
        .testTarget(
            name: "DamageTests",
            dependencies: [
                "Tiers", "TiersSQLite", "TiersTesting", "RawDatabase", "CChecksum",
                .target(name: "CSQLite", condition: .when(platforms: [.linux])),
            ]),
    ],
    swiftLanguageModes: [.v6]
)

/// Readers of bytes under libFuzzer: `make fuzz`. No other build knows of it.
if ProcessInfo.processInfo.environment["VELLUM_FUZZING"] != nil {
    package.targets.append(
        .executableTarget(
            name: "Fuzz", dependencies: ["CBORCoding", "Tiers", "TiersSQLite", "TiersTesting", "Shallows", "MiniCache"], path: "Fuzzing",
            exclude: ["Corpus"], swiftSettings: [.unsafeFlags(["-parse-as-library"])]))
}

/// One language for every target of ours. The parity tests are compiled as clients are, with no setting of ours.
for target in package.targets
where [.regular, .executable, .test].contains(target.type) && !["CChecksum", "CSQLiteConfig"].contains(target.name)
    && !target.name.hasPrefix("Parity")
{
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("MemberImportVisibility"),
            .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
            .enableUpcomingFeature("InferIsolatedConformances"),
        ]
}
