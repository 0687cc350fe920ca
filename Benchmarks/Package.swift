// swift-tools-version: 6.2

import PackageDescription

// A package of its own, so that nobody who uses Vellum resolves what only its benchmarks need.
let package = Package(
    name: "VellumBenchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Vellum", path: ".."),
        // Without its traits: its own count of allocations needs a library that is not on every machine. Ours is `CAllocations`.
        .package(url: "https://github.com/ordo-one/benchmark", exact: "1.38.1", traits: []),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/apple/swift-protobuf", exact: "1.39.0", traits: []),
    ],
    targets: [
        // The comparisons, run by the benchmark tool.
        .executableTarget(
            name: "VellumBenchmarks",
            dependencies: [
                "Samples", "CRawSQLite", "CAllocations",
                .product(name: "Vellum", package: "Vellum"),
                .product(name: "MiniCache", package: "Vellum"),
                .product(name: "Shallows", package: "Vellum"),
                .product(name: "ShallowsSQLite", package: "Vellum"),
                .product(name: "Benchmark", package: "benchmark"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "CBORCoding", package: "Vellum"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ],
            path: "Benchmarks/VellumBenchmarks",
            exclude: ["Messages/subjects.proto"],
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]
        ),
        // What needs a process of its own: resident memory, and the log under a reader and a writer.
        .executableTarget(
            name: "Probe",
            dependencies: [
                "Samples", "CRawSQLite", .product(name: "Vellum", package: "Vellum"), .product(name: "MiniCache", package: "Vellum"),
                .product(name: "Shallows", package: "Vellum"), .product(name: "CBORCoding", package: "Vellum"),
            ],
            path: "Benchmarks/Tools/Probe"),
        // Prints all of it as one table, with ratios and limits.
        .executableTarget(name: "Report", dependencies: ["Samples"], path: "Benchmarks/Tools/Report"),
        // What the three tell each other.
        .target(name: "Samples", path: "Benchmarks/Samples"),
        // Counts the allocations of a thread.
        .target(name: "CAllocations", path: "Benchmarks/CAllocations"),
        .systemLibrary(name: "CRawSQLite", path: "Benchmarks/CRawSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    ],
    swiftLanguageModes: [.v6]
)
