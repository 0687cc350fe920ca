#!/bin/sh
# Prints how many files of Sources/ run for one record, access, load, retrieval and query: a client does each of them ten times and twenty
# times, and a file counts if the second run executed more of it. Needs the coverage tools of the toolchain. Builds for minutes.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
folder=$root/.build/walks
mkdir -p "$folder/Sources/Walks"

cat >"$folder/Package.swift" <<END
// swift-tools-version: 6.2
import PackageDescription
let package = Package(
    name: "Walks", platforms: [.macOS(.v15)], dependencies: [.package(name: "Vellum", path: "$root")],
    targets: [
        .executableTarget(
            name: "Walks",
            dependencies: ["Vellum", "MiniCache", "Shallows"].map { .product(name: \$0, package: "Vellum") })
    ])
END

cat >"$folder/Sources/Walks/main.swift" <<'END'
import Foundation
import MiniCache
import Shallows
import Vellum

struct Town: ArchiveCodable, IndexedArchivable, Sendable {
    static var archiveName: String { "Town" }
    static var archiveIndexes: [ArchiveIndex<Town>] { [.index(\.people)] }
    var primaryKey: String { name }
    var name: String
    var people: Int
}

let (walk, count) = (CommandLine.arguments[1], Int(CommandLine.arguments[2]) ?? 0)
let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
defer { try? FileManager.default.removeItem(at: folder) }
let towns = try ArchivesFactory(directory: folder).store(for: Town.self, memoryLimit: walk == "disk hit" ? 1.byte : 1.megaByte)
try towns.record(contentsOf: (0..<100).map { Town(name: "\($0)", people: $0) })
let cache: MiniCache<String, Int> = MiniCacheManager(name: "Cache", directory: folder).cache(
    cacheName: "Cache", cacheVersion: .custom("1"), maxAge: .forever)
let (front, middle, back) = (MemoryStorage<String, Int>(), MemoryStorage<String, Int>(), MemoryStorage<String, Int>())
let storage = front.combined(with: middle).combined(with: back).makeSyncStorage()
for number in 0..<100 { try back.makeSyncStorage().set(number, forKey: "\(number)") }
// Everything has run once before it is counted.
for number in 0..<count + 1 {
    switch walk {
    case "record": try towns.record(Town(name: "new \(number)", people: number))
    case "hit", "disk hit": _ = try towns.access(archiveWithKey: "\(number)")
    case "load": _ = try await cache.value(forKey: "\(number)", orLoad: { number })
    case "retrieve": _ = try storage.retrieve(forKey: "\(number)")
    default: _ = try towns.fetch(where: #Predicate { $0.people == number })
    }
}
END

"${SWIFT:-swift}" build --package-path "$folder" -Xswiftc -profile-generate -Xswiftc -profile-coverage-mapping >"$folder/log" 2>&1 || {
    tail -n 20 "$folder/log"
    exit 1
}
client=$("${SWIFT:-swift}" build --package-path "$folder" --show-bin-path)/Walks
# Those of the toolchain: others do not read its profiles.
tools=$(xcrun --find llvm-cov 2>/dev/null || readlink -f "$(command -v "${SWIFT:-swift}")")
tools=$(dirname "$tools")
counts() {
    LLVM_PROFILE_FILE=$folder/raw "$client" "$1" "$2" >/dev/null
    "$tools/llvm-profdata" merge -o "$folder/data" "$folder/raw"
    "$tools/llvm-cov" export --format=lcov --instr-profile="$folder/data" "$client" |
        awk -F '[:,]' -v sources="$root/Sources/" '/^SF:/ { file = index($2, sources) ? substr($2, length(sources) + 1) : "" }
            /^DA:/ && file { sum[file] += $3 } END { for (file in sum) print file, sum[file] }' | sort
}
for walk in record hit "disk hit" load retrieve query; do
    counts "$walk" 10 >"$folder/ten"
    counts "$walk" 20 >"$folder/twenty"
    join "$folder/ten" "$folder/twenty" | awk '$3 > $2 { print $1 }' >"$folder/files of $walk"
    printf '%-10s %d files, %d without the coder\n' "$walk" "$(wc -l <"$folder/files of $walk")" \
        "$(grep -cv '^CBORCoding/' "$folder/files of $walk")"
done
