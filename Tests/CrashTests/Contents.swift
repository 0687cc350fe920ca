import CrashScript
import Foundation
import VellumCore
import VellumEngine
import VellumTestSupport

/// The readable contents of a file.
struct Contents {
    var items: [ScriptArchive: [String: Int]] = [:]
    var problems: [String] = []

    /// Opens the file of the folder, reads everything, and closes it.
    init(of folder: String, at now: Int64) throws {
        let file = try DatabaseFile.open(
            at: Library.url(in: folder),
            clock: Library.Clock(now).wallClock
        )
        let report = try file.verify()
        // Entries that do not match their checksums are not removed.
        if !report.structuralProblems.isEmpty
            || !report.archives.allSatisfy({ $0.hasRightTotals && $0.hasRightIndex })
        {
            problems.append("the file is not sound: \(report)")
        }
        for name in try file.archiveNames() {
            guard let archive = ScriptArchive(rawValue: name) else { continue }
            let store = try file.store(
                named: name,
                codec: ItemCodec(archive, version: .max),
                memory: Capacity(1.megaByte),
                disk: .unlimited
            )
            for key in try store.keys() {
                guard let item = try Self.peek(key, store) else { continue }
                if item.key != key.normalized {
                    problems.append("\(archive) holds \(item.key) under \(key.normalized)")
                }
                items[archive, default: [:]][item.key] = item.version
            }
            try store.close()
        }
        try file.close()
    }

    /// The item, if it exists and can be read.
    private static func peek(_ key: EntryKey, _ store: Store<Item>) throws(VellumError) -> Item? {
        do throws(VellumError) {
            return try store.peek(key)
        } catch {
            if error.code == .damagedEntry { return nil }
            throw error
        }
    }

    /// The number of entries that the other contents lack.
    func missing(in other: Contents) -> [String] {
        items.flatMap { archive, keys in
            keys.filter { other.items[archive]?[$0.key] != $0.value }.map {
                "\(archive) \($0.key)=\($0.value)"
            }
        }
        .sorted()
    }

    var count: Int { items.values.reduce(0) { $0 + $1.count } }
}
