// swift-tools-version: 6.2

import PackageDescription

// Libraries that are measured only where they are found: `peers.sh` looks for them and sets these
// variables.
let hasLMDB = Context.environment["VELLUM_BENCH_LMDB"] != nil
let folderOfMMKV = Context.environment["VELLUM_BENCH_MMKV"]
let folderOfLRUCache = Context.environment["VELLUM_BENCH_LRUCACHE"]

var peers: [Target.Dependency] = []
var peerTargets: [Target] = []
var peerSettings: [SwiftSetting] = []
var peerLinking: [LinkerSetting] = []
if hasLMDB {
    peers.append("CLMDB")
    peerTargets.append(
        .systemLibrary(
            name: "CLMDB",
            path: "Benchmarks/CLMDB",
            pkgConfig: "lmdb",
            providers: [.apt(["liblmdb-dev"])]
        )
    )
    peerSettings.append(.define("HAS_LMDB"))
}
if let folderOfMMKV {
    peers.append("CMMKV")
    peerTargets.append(.systemLibrary(name: "CMMKV", path: "Benchmarks/CMMKV"))
    peerSettings += [.define("HAS_MMKV"), .unsafeFlags(["-Xcc", "-I\(folderOfMMKV)"])]
    peerLinking.append(.unsafeFlags(["-L\(folderOfMMKV)"]))
}
var memoryPeers: [Target.Dependency] = []
var memoryPeerSettings: [SwiftSetting] = []
if folderOfLRUCache != nil {
    memoryPeers.append(.product(name: "LRUCache", package: "LRUCache"))
    memoryPeerSettings.append(.define("HAS_LRUCACHE"))
}

// A package of its own, so that nobody who uses Vellum resolves what only its benchmarks need.
let package = Package(
    name: "VellumBenchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Vellum", path: ".."),
        // Without its traits: its own count of allocations needs a library that is not on every
        // machine. Ours is `CAllocations`.
        .package(url: "https://github.com/ordo-one/benchmark", exact: "1.38.1", traits: []),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/apple/swift-protobuf", exact: "1.39.0", traits: []),
    ] + (folderOfLRUCache.map { [.package(name: "LRUCache", path: $0)] } ?? []),
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
            ] + peers + memoryPeers,
            path: "Benchmarks/VellumBenchmarks",
            exclude: ["Messages/subjects.proto"],
            swiftSettings: peerSettings + memoryPeerSettings,
            linkerSettings: peerLinking,
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]
        ),
        // What needs a process of its own: resident memory, and the log under a reader and a
        // writer.
        .executableTarget(
            name: "Probe",
            dependencies: [
                "Samples", "CRawSQLite", .product(name: "Vellum", package: "Vellum"),
                .product(name: "MiniCache", package: "Vellum"),
                .product(name: "Shallows", package: "Vellum"),
                .product(name: "CBORCoding", package: "Vellum"),
            ] + memoryPeers,
            path: "Benchmarks/Tools/Probe",
            swiftSettings: memoryPeerSettings
        ),
        // Awaited calls beside direct ones, `perform` and GRDB.
        .executableTarget(
            name: "Awaiting",
            dependencies: [
                "CRawSQLite", .product(name: "Vellum", package: "Vellum"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            path: "Benchmarks/Tools/Awaiting"
        ),
        // Prints all of it as one table, with ratios and limits, and writes it to a file for the
        // pictures.
        .executableTarget(
            name: "Report",
            dependencies: ["Samples"],
            path: "Benchmarks/Tools/Report"
        ),
        // What the three tell each other.
        .target(name: "Samples", path: "Benchmarks/Samples"),
        // Counts the allocations of a thread.
        .target(name: "CAllocations", path: "Benchmarks/CAllocations"),
        .systemLibrary(
            name: "CRawSQLite",
            path: "Benchmarks/CRawSQLite",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"])]
        ),
    ] + peerTargets,
    swiftLanguageModes: [.v6]
)
