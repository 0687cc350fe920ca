// swift-tools-version: 6.2

import Foundation
import PackageDescription

let package = Package(
    name: "Vellum",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Vellum", targets: ["Vellum"]),
        .library(name: "MiniCache", targets: ["MiniCache"]),
        // Without flags of the compiler for its size (decision 44).
        .library(name: "Shallows", targets: ["Shallows"]),
        .library(name: "ShallowsStatic", type: .static, targets: ["Shallows"]),
        .library(name: "ShallowsDynamic", type: .dynamic, targets: ["Shallows"]),
        .library(name: "ShallowsSQLite", targets: ["ShallowsSQLite"]),
        .library(name: "CBORCoding", targets: ["CBORCoding"]),
        // Looks into files without the types, and carries them away: backups, exports. For tools.
        .library(name: "VellumFiles", targets: ["VellumFiles"]),
        // For tests of programs that use the others.
        .library(name: "VellumTesting", targets: ["VellumTesting"]),
        // With the trait `Valkey`; without it, making a `ValkeyServer` is an error that names the
        // trait.
        .library(name: "MiniCacheValkey", targets: ["MiniCacheValkey"]),
        .library(name: "ShallowsValkey", targets: ["ShallowsValkey"]),
        // With the trait `Metrics`; without it, making a `MetricsReporter` is an error that names
        // the trait.
        .library(name: "VellumMetrics", targets: ["VellumMetrics"]),
    ],
    traits: [
        .trait(
            name: "Valkey",
            description: "Shared caches on a Valkey or Redis server. Needs swift-nio."
        ),
        // Of its own, because its library takes minutes to build (decision 59).
        .trait(
            name: "ValkeyTLS",
            description: "The same, by TLS. Needs swift-nio-ssl, which takes long to build.",
            enabledTraits: ["Valkey"]
        ),
        .trait(
            name: "Metrics",
            description: "Metrics and spans. Needs swift-metrics and swift-distributed-tracing."
        ),
    ],
    // Few, and those of one feature behind a trait (decision 2).
    dependencies: [
        .package(url: "https://github.com/apple/swift-log.git", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.80.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.30.0"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.1.0"),
    ],
    targets: [
        // A coder of bytes, which knows nothing of the rest.
        .target(name: "CBORCoding"),

        // The bytes of `Codable` values, for files and servers.
        .target(name: "CodableFormats", dependencies: ["CBORCoding", "VellumCore"]),
        // What every face shares. No database.
        .target(
            name: "VellumCore",
            dependencies: [.product(name: "Logging", package: "swift-log")]
        ),
        // The engine: memory over disk. Nothing of it is public.
        .target(
            name: "VellumEngine",
            dependencies: [
                "VellumCore", "CChecksum", "CodableFormats", "CSQLiteConfig",
                .target(name: "CSQLite", condition: .when(platforms: [.linux])),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .target(name: "CChecksum"),
        // Calls of C that Swift does not import.
        .target(
            name: "CSQLiteConfig",
            dependencies: [.target(name: "CSQLite", condition: .when(platforms: [.linux]))],
            linkerSettings: [.linkedLibrary("sqlite3")]
        ),
        .systemLibrary(
            name: "CSQLite",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"])]
        ),

        // Types that change: what a versioned type says, and how its old objects become new ones.
        .target(name: "ModelVersions", dependencies: ["CBORCoding", "VellumCore", "VellumEngine"]),

        // Imports the data of the original Vellum and MiniCache, once.
        .target(name: "Originals", dependencies: ["VellumCore", "VellumEngine"]),

        // The faces.
        .target(
            name: "Vellum",
            dependencies: [
                "CBORCoding", "ModelVersions", "Originals", "VellumCore", "VellumEngine",
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .target(
            name: "MiniCache",
            dependencies: [
                "CBORCoding", "ModelVersions", "Originals", "VellumCore", "VellumEngine",
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .target(
            name: "Shallows",
            dependencies: ["VellumCore", .product(name: "Logging", package: "swift-log")]
        ),
        .target(
            name: "ShallowsSQLite",
            dependencies: [
                "Shallows", "VellumCore", "VellumEngine",
                .product(name: "Logging", package: "swift-log"),
            ]
        ),

        // Files without the types of what they hold, for tools and backups.
        .target(
            name: "VellumFiles",
            dependencies: [
                "CBORCoding", "CodableFormats", "MiniCache", "Vellum", "VellumCore", "VellumEngine",
            ]
        ),

        // A clock, faults and gates for tests of programs that use the faces.
        .target(
            name: "VellumTesting",
            dependencies: [
                "Vellum", "MiniCache", "VellumCore", "VellumEngine", "RawDatabase", "ScriptedDisk",
            ]
        ),
        // A database as SQLite alone sees it, for tests that look behind a store or damage it.
        .target(
            name: "RawDatabase",
            dependencies: [.target(name: "CSQLite", condition: .when(platforms: [.linux]))]
        ),
        // A disk that fails and forgets as it is told.
        .target(
            name: "ScriptedDisk",
            dependencies: [
                "VellumCore", .target(name: "CSQLite", condition: .when(platforms: [.linux])),
            ]
        ),

        // Caches that many machines share, whatever server keeps them. No network.
        .target(name: "VellumRemote", dependencies: ["VellumCore", "CChecksum"]),
        // A connection to a Valkey or Redis server. What imports NIO is compiled only with the
        // trait.
        .target(
            name: "VellumValkey",
            dependencies: [
                "VellumCore", "VellumRemote",
                .product(
                    name: "NIOCore",
                    package: "swift-nio",
                    condition: .when(traits: ["Valkey"])
                ),
                .product(
                    name: "NIOPosix",
                    package: "swift-nio",
                    condition: .when(traits: ["Valkey"])
                ),
                .product(
                    name: "NIOSSL",
                    package: "swift-nio-ssl",
                    condition: .when(traits: ["ValkeyTLS"])
                ),
            ]
        ),

        // The faces over such a server.
        .target(
            name: "MiniCacheValkey",
            dependencies: ["MiniCache", "VellumCore", "VellumRemote", "VellumValkey"]
        ),
        .target(
            name: "ShallowsValkey",
            dependencies: [
                "CodableFormats", "Shallows", "VellumCore", "VellumRemote", "VellumValkey",
            ]
        ),

        // What a program reports of archives and caches while it runs. What imports other packages
        // is compiled only with the trait.
        .target(
            name: "VellumMetrics",
            dependencies: [
                "MiniCache", "MiniCacheValkey", "Vellum", "VellumCore", "VellumEngine",
                "VellumRemote",
                .product(
                    name: "CoreMetrics",
                    package: "swift-metrics",
                    condition: .when(traits: ["Metrics"])
                ),
                .product(
                    name: "Tracing",
                    package: "swift-distributed-tracing",
                    condition: .when(traits: ["Metrics"])
                ),
            ]
        ),

        // The main job on real data.
        .executableTarget(
            name: "Airports",
            dependencies: ["Vellum"],
            path: "Examples/Airports",
            resources: [.copy("Data")]
        ),
        // An earlier version of it, whose file it migrates.
        .executableTarget(
            name: "AirportsBefore",
            dependencies: ["Vellum"],
            path: "Examples/AirportsBefore"
        ),
        // A cache before a slow source that fails.
        .executableTarget(
            name: "ExchangeRates",
            dependencies: ["MiniCache"],
            path: "Examples/ExchangeRates"
        ),
        // Two processes, one of which observes what the other changes.
        .executableTarget(name: "Observe", dependencies: ["Vellum"], path: "Examples/Observe"),
        .executableTarget(
            name: "ObservingBenchmark",
            dependencies: ["Vellum"],
            path: "Benchmarks/Observing"
        ),
        // Four processes that share a cache. With the trait `Valkey`.
        .executableTarget(
            name: "FilesBenchmark",
            dependencies: [
                "VellumFiles", "Vellum",
                .target(name: "CSQLite", condition: .when(platforms: [.linux])),
            ],
            path: "Benchmarks/Files"
        ),
        .executableTarget(
            name: "SharedBenchmark",
            dependencies: ["MiniCacheValkey", "VellumCore", "VellumRemote", "VellumValkey"],
            path: "Benchmarks/Shared"
        ),
        .executableTarget(name: "Fleet", dependencies: ["MiniCacheValkey"], path: "Examples/Fleet"),
        // A cache whose source hangs and fails, as metrics show it. With the trait `Metrics`.
        .executableTarget(
            name: "Outage",
            dependencies: [
                "MiniCache", "VellumMetrics",
                .product(
                    name: "CoreMetrics",
                    package: "swift-metrics",
                    condition: .when(traits: ["Metrics"])
                ),
            ],
            path: "Examples/Outage"
        ),
        // A client whose size is counted, and nineteen works whose instructions are:
        // `make instructions`.
        .executableTarget(
            name: "Client",
            dependencies: ["Vellum"],
            path: "Benchmarks/Client",
            exclude: ["figures.txt"],
            swiftSettings: [.swiftLanguageMode(.v5)]
        ),
        .executableTarget(
            name: "Instructions",
            dependencies: ["Vellum", "MiniCache", "Shallows"],
            path: "Benchmarks/Instructions",
            exclude: ["figures.txt"]
        ),

        // Tests: one target for each of the sources, then queries against a model, shared caches,
        // the seeds as clients see them, and processes that are killed. Those from
        // `QueryModelTests` on are not part of `make quick`.
        .testTarget(name: "CBORCodingTests", dependencies: ["CBORCoding"]),
        .testTarget(
            name: "VellumCoreTests",
            dependencies: ["VellumCore", "VellumEngine", "VellumTestSupport"]
        ),
        .testTarget(
            name: "VellumEngineTests",
            dependencies: [
                "VellumCore", "VellumEngine", "VellumTestSupport", "CChecksum", "RawDatabase",
                .target(name: "CSQLite", condition: .when(platforms: [.linux])),
            ]
        ),
        .testTarget(
            name: "VellumTests",
            dependencies: [
                "Vellum", "MiniCache", "Shallows", "ShallowsSQLite", "VellumCore", "VellumEngine",
                "VellumTestSupport", "VellumTesting",
            ]
        ),
        .testTarget(
            name: "MiniCacheTests",
            dependencies: [
                "MiniCache", "Originals", "VellumCore", "VellumEngine", "VellumTestSupport",
                "RawDatabase",
            ]
        ),
        .testTarget(
            name: "VellumFilesTests",
            dependencies: [
                "VellumFiles", "Vellum", "MiniCache", "CBORCoding", "VellumCore", "VellumEngine",
                "VellumTestSupport", "VellumTesting", "RawDatabase",
            ]
        ),
        // As a program's own tests use it: public API only.
        .testTarget(
            name: "VellumTestingTests",
            dependencies: ["VellumTesting", "Vellum", "MiniCache"]
        ),
        .testTarget(
            name: "ShallowsTests",
            dependencies: ["Shallows", "VellumCore", "VellumTestSupport"]
        ),
        .testTarget(
            name: "ShallowsSQLiteTests",
            dependencies: [
                "ShallowsSQLite", "Shallows", "VellumCore", "VellumEngine", "VellumTestSupport",
            ]
        ),
        .testTarget(
            name: "VellumRemoteTests",
            dependencies: ["VellumRemote", "VellumCore", "VellumTestSupport"]
        ),
        // With the trait `Metrics`; without it, nothing is compiled.
        .testTarget(
            name: "VellumMetricsTests",
            dependencies: [
                "VellumMetrics", "MiniCache", "MiniCacheValkey", "Vellum", "VellumCore",
                "VellumEngine", "VellumRemote",
                "VellumTestSupport", "FleetSupport",
                .product(
                    name: "MetricsTestKit",
                    package: "swift-metrics",
                    condition: .when(traits: ["Metrics"])
                ),
                .product(
                    name: "InMemoryTracing",
                    package: "swift-distributed-tracing",
                    condition: .when(traits: ["Metrics"])
                ),
            ]
        ),
        // Random queries with indexes, without, and on an array.
        .testTarget(
            name: "QueryModelTests",
            dependencies: [
                "Vellum", "VellumCore", "VellumEngine", "VellumTestSupport", "RawDatabase",
            ]
        ),
        .testTarget(
            name: "ValkeyTests",
            dependencies: [
                "MiniCacheValkey", "MiniCache", "ShallowsValkey", "VellumValkey", "VellumRemote",
                "VellumCore", "VellumTestSupport",
                "FleetSupport",
                "FleetClient",
            ]
        ),
        // Servers for tests, a network that fails, and what processes know of the values that they
        // share. With the trait `Valkey`.
        .target(
            name: "FleetSupport",
            dependencies: [
                "TestThreads", "VellumCore", "VellumRemote", "VellumValkey", "VellumTestSupport",
                .product(
                    name: "NIOCore",
                    package: "swift-nio",
                    condition: .when(traits: ["Valkey"])
                ),
                .product(
                    name: "NIOPosix",
                    package: "swift-nio",
                    condition: .when(traits: ["Valkey"])
                ),
            ],
            path: "Tests/FleetSupport"
        ),
        .executableTarget(
            name: "FleetClient",
            dependencies: ["MiniCacheValkey", "VellumCore", "VellumTestSupport", "FleetSupport"],
            path: "Tests/FleetClient"
        ),
        // What the originals' documents say. That those of Swift 6 compile in Swift 5 and for the
        // main actor, too, is checked by `Scripts/check-clients.sh`.
        .testTarget(
            name: "ParitySwift6Tests",
            dependencies: ["Vellum", "MiniCache", "Shallows", "ShallowsSQLite", "CBORCoding"],
            path: "Tests/ParityTests/Swift6"
        ),
        .testTarget(
            name: "ParitySwift5Tests",
            dependencies: ["Vellum", "MiniCache", "Shallows", "ShallowsSQLite", "CBORCoding"],
            path: "Tests/ParityTests/Swift5",
            swiftSettings: [.swiftLanguageMode(.v5)]
        ),
        // Threads for tests, and how they wait. Public, because the parity tests are compiled as
        // clients are.
        .target(name: "TestThreads", dependencies: ["VellumCore"], path: "Tests/TestThreads"),
        // Clocks, faults, counting codecs and temporary folders for tests.
        .target(
            name: "VellumTestSupport",
            dependencies: [
                "TestThreads", "CodableFormats", "VellumCore", "VellumEngine", "VellumTesting",
            ],
            path: "Tests/VellumTestSupport"
        ),
        .target(
            name: "CrashScript",
            dependencies: [
                "Vellum", "VellumFiles", "VellumCore", "VellumEngine", "VellumTestSupport",
            ],
            path: "Tests/CrashScript"
        ),
        .executableTarget(
            name: "CrashChild",
            dependencies: [
                "Vellum", "VellumFiles", "MiniCache", "Shallows", "VellumCore", "VellumEngine",
                "VellumTestSupport", "CrashScript",
                "RawDatabase",
            ],
            path: "Tests/CrashChild"
        ),
        .testTarget(
            name: "CrashTests",
            dependencies: [
                "Vellum", "MiniCache", "VellumCore", "VellumEngine", "VellumTestSupport",
                "CrashScript", "CrashChild", "RawDatabase",
                "ScriptedDisk",
            ]
        ),
        .testTarget(
            name: "ReliabilityTests",
            dependencies: [
                "Vellum", "VellumCore", "VellumEngine", "MiniCache", "Shallows", "ShallowsSQLite",
                "VellumTestSupport", "ScriptedDisk",
                .target(name: "CSQLite", condition: .when(platforms: [.linux])),
            ]
        ),
        .testTarget(
            name: "DamageTests",
            dependencies: [
                "VellumCore", "VellumEngine", "VellumTestSupport", "RawDatabase", "CChecksum",
                .target(name: "CSQLite", condition: .when(platforms: [.linux])),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)

/// Readers of bytes under libFuzzer: `make fuzz`. No other build knows of it.
if ProcessInfo.processInfo.environment["VELLUM_FUZZING"] != nil {
    package.targets.append(
        .executableTarget(
            name: "Fuzz",
            dependencies: [
                "CBORCoding", "VellumCore", "VellumEngine", "VellumTestSupport", "Shallows",
                "MiniCache", "VellumRemote", "VellumValkey",
            ],
            path: "Fuzzing",
            exclude: ["Corpus"],
            swiftSettings: [.unsafeFlags(["-parse-as-library"])]
        )
    )
}

/// `make test` and `make quick` build no program that no test starts: SwiftPM builds all that a
/// package has (decision 91).
if ProcessInfo.processInfo.environment["VELLUM_TESTS"] != nil {
    let programs: Set = [
        "Airports", "AirportsBefore", "ExchangeRates", "Observe", "ObservingBenchmark", "Fleet",
        "Outage", "SharedBenchmark",
        "FilesBenchmark", "Instructions", "Client",
    ]
    package.targets.removeAll { programs.contains($0.name) }
    package.products.removeAll { $0.name == "ShallowsDynamic" }
    // What nearly every test calls for each byte and character is as fast as in the product: a
    // third of what tests take, for a few seconds of the build. Its assertions stay.
    let optimized: Set = ["CBORCoding", "VellumCore", "ScriptedDisk", "VellumTestSupport"]
    for target in package.targets where optimized.contains(target.name) {
        target.swiftSettings = [.unsafeFlags(["-O", "-assert-config", "Debug"])]
    }
    for target in package.targets where target.name == "CChecksum" {
        target.cSettings = (target.cSettings ?? []) + [.unsafeFlags(["-O2"])]
    }
}

/// `make quick` builds what most changes need.
if ProcessInfo.processInfo.environment["VELLUM_TESTS"] == "quick" {
    let left: Set = [
        "QueryModelTests", "ValkeyTests", "FleetClient", "ParitySwift6Tests", "ParitySwift5Tests",
        "CrashScript", "CrashChild",
        "CrashTests", "ReliabilityTests", "DamageTests",
    ]
    package.targets.removeAll { left.contains($0.name) }
    // Random models, many threads, and what needs large files.
    let long = [
        "CBORCodingTests": [
            "ContainerCalls/ContainerModelTests.swift", "Malformed/MutationTests.swift",
        ],
        "VellumCoreTests": [
            "Memory/MemoryCacheConcurrencyTests.swift", "Memory/RecencyBufferTests.swift",
        ],
        "VellumEngineTests": [
            "ArchiveRuleTests.swift", "DurabilityTests.swift", "FileSizeTests.swift",
            "ModelTests.swift", "RecencyTests.swift",
            "Loading/LoadingModelTests.swift", "Loading/LoadingStampedeConcurrencyTests.swift",
            "Query/IndexBuildingTests.swift",
            "Query/IndexModelTests.swift",
            "Query/QueryConcurrencyTests.swift", "Sweep/SweepingConcurrencyTests.swift",
            "Versions/MigrationPassTests.swift",
        ],
        "VellumFilesTests": ["StateTests.swift"],
        "VellumTests": [
            "Query/ArchiveStreamTests.swift", "Query/RelationTests.swift",
            "VersionOne/ImportTests.swift",
        ],
        "MiniCacheTests": ["MiniCacheModelTests.swift", "OriginalFileTests.swift"],
        "ShallowsTests": [
            "Concurrency/DepthTests.swift", "Concurrency/FaultConcurrencyTests.swift",
            "Concurrency/StackConcurrencyTests.swift",
            "Laws/AssociativityTests.swift", "Laws/RandomStackLawsTests.swift",
            "Storages/Disk/DiskPowerLossTests.swift",
            "Storages/Disk/FolderModelTests.swift", "Storages/Disk/NthFailureTests.swift",
        ],
    ]
    for target in package.targets { target.exclude += long[target.name] ?? [] }
}

for target in package.targets where target.type == .test {
    target.dependencies.append("TestThreads")
}

/// The privacy manifest is a resource where apps need one. It says what all modules call, because
/// each that calls it needs `VellumCore`.
for target in package.targets where target.name == "VellumCore" {
    #if canImport(Darwin)
        target.resources = [.copy("PrivacyInfo.xcprivacy")]
    #else
        target.exclude.append("PrivacyInfo.xcprivacy")
    #endif
}

/// One language for every target of ours. The parity tests are compiled as clients are, with no
/// setting of ours.
for target in package.targets
where [.regular, .executable, .test].contains(target.type)
    && !["CChecksum", "CSQLiteConfig"].contains(target.name)
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
