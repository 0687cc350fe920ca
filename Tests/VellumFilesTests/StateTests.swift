import Foundation
import MiniCache
import RawDatabase
import TestThreads
import Testing
import Vellum
import VellumFiles
import VellumTestSupport
import VellumTesting

/// Every public call in every state of its file: what it returns or throws is in
/// `Documentation/States.md`, which guides cite. `VELLUM_UPDATE=1` writes it anew.
@Suite(.ownThreads(.longSuite))
struct StateTests {
    enum State: String, CaseIterable, Sendable {
        case open, suspended, closed, vanished
        case readOnly = "only read"
        case fullDisk = "full disk"
        case locked = "locked by another"
        case newerFormat = "newer format"
    }

    struct Note: ArchiveCodable, IndexedArchivable, Sendable {
        static let archiveName = "Note"
        static var archiveIndexes: [ArchiveIndex<Note>] { [.index(\.size)] }
        var primaryKey: String
        var size = 1
    }

    // MARK: Archives

    /// A factory in a state, with a store and a file that were opened before, unless the state is
    /// that nothing can be opened.
    private final class Archives: Sendable {
        let factory: ArchivesFactory
        private let store: ArchiveStore<Note>?
        private let file: ArchiveFile?
        private let rawNotes: RawArchive?
        private let url: URL
        private let faults = Faults()
        let copies: TemporaryDirectory

        init(_ state: State) throws {
            copies = try TemporaryDirectory()
            url = copies.file("Archives.sqlite")
            let made = ArchivesFactory.inMemory(faults: faults)
            let notes = try made.store(for: Note.self)
            try notes.record(contentsOf: ["a", "b"].map { Note(primaryKey: $0) })
            notes.trimMemory(to: .zero)
            _ = try notes.access(archiveWithKey: "a")
            guard state == .readOnly || state == .newerFormat else {
                factory = made
                store = notes
                file = try made.file()
                rawNotes = try made.rawArchive(named: "Note")
                switch state {
                case .suspended: try made.suspend()
                case .closed: try made.close()
                case .vanished:
                    try faults.removeFiles()
                    blockUntil("it is noticed") {
                        do {
                            _ = try notes.access(archiveWithKey: "b")
                            return false
                        } catch {
                            return true
                        }
                    }
                case .fullDisk: faults.fillDisk()
                case .locked: faults.lockFile()
                case .open, .readOnly, .newerFormat: break
                }
                return
            }
            try made.backup(to: url)
            try made.close()
            if state == .readOnly {
                factory = ArchivesFactory(readingOnly: url)
                store = try factory.store()
                let opened = try ArchiveFile(at: url)
                file = opened
                rawNotes = try opened.archive(named: "Note")
            } else {
                try RawDatabase(url).declareFormat(99)
                factory = ArchivesFactory(directory: copies.url)
                store = nil
                file = nil
                rawNotes = nil
            }
        }

        // What could not be opened before is opened now.

        func notes() throws -> ArchiveStore<Note> { try store ?? factory.store() }

        func opened() throws -> ArchiveFile { try file ?? ArchiveFile(at: url, access: .writing) }

        func raw() throws -> RawArchive {
            try #require(try rawNotes ?? opened().archive(named: "Note"))
        }
    }

    private typealias CallOfArchives = (String, @Sendable (Archives) async throws -> Any)

    private static let predicate = #Predicate<Note> { $0.size == 1 }

    private static let reads: [CallOfArchives] = [
        ("access", { try $0.notes().access(archiveWithKey: "b")?.primaryKey ?? "none" }),
        ("access, in memory", { try $0.notes().access(archiveWithKey: "a")?.primaryKey ?? "none" }),
        ("access(allKeys:)", { try $0.notes().access(allKeys: ["a", "b", "c"]).count }),
        ("accessAll", { try $0.notes().accessAll().count }),
        ("contains", { try $0.notes().contains(archiveWithKey: "b") }),
        ("metadata", { try $0.notes().metadata(forKey: "b") == nil ? "none" : "metadata" }),
        ("keys", { try $0.notes().keys().count }),
        ("keys(prefix:)", { try $0.notes().keys(prefix: "a").count }),
        ("count", { try $0.notes().count() }),
        ("fetch", { try $0.notes().fetch(where: predicate).count }),
        ("first", { try $0.notes().first()?.primaryKey ?? "none" }),
        ("count(where:)", { try $0.notes().count(where: predicate) }),
        ("exists", { try $0.notes().exists(where: predicate) }),
        ("sum", { try $0.notes().sum(of: \.size) }),
        ("average", { try $0.notes().average(of: \.size) ?? -1 }),
        ("min", { try $0.notes().min(of: \.size) ?? -1 }),
        ("max", { try $0.notes().max(of: \.size) ?? -1 }),
        ("count(by:)", { try $0.notes().count(by: \.size).count }),
        ("explain", { try $0.notes().explain(where: predicate).results }),
        ("indexProgress", { try $0.notes().indexProgress().total }),
        ("migrationProgress", { try $0.notes().migrationProgress().total }),
        (
            "stream",
            { archives in
                var count = 0
                for try await _ in try archives.notes().stream(where: predicate) { count += 1 }
                return count
            }
        ),
        (
            "perform",
            { try await $0.notes().perform { try $0.count() } }
        ),
        ("undecodableKeys", { try $0.notes().undecodableKeys().count }),
        ("encodedData", { try $0.notes().encodedData(forKey: "b") == nil ? "none" : "data" }),
        ("cborValue", { try $0.notes().cborValue(forKey: "b") == nil ? "none" : "value" }),
        ("statistics", { try $0.notes().statistics().disk.entries }),
        (
            "limits",
            {
                _ = try $0.notes().limits
                return "limits"
            }
        ),
        ("trimMemory", { try $0.notes().trimMemory(to: .zero) }),
        ("archives()", { try $0.factory.archives().count }),
        (
            "check",
            {
                let health = try $0.factory.check()
                return health.writeFailure.map { "cannot write: `\($0.code)`" } ?? "healthy"
            }
        ),
        ("store(for:)", { try $0.factory.store(for: Note.self).count() }),
        ("backup(to:)", { try $0.factory.backup(to: $0.copies.file("copy.sqlite")) }),
    ]

    private static let new = Note(primaryKey: "new")

    private static let writes: [CallOfArchives] = [
        ("record", { try $0.notes().record(new) }),
        ("record(contentsOf:)", { try $0.notes().record(contentsOf: [new]) }),
        ("async.record", { try await $0.notes().async.record(new) }),
        ("recordIfAbsent", { try $0.notes().recordIfAbsent(new) }),
        (
            "update",
            {
                try $0.notes().update(archiveWithKey: "b") { note in
                    note?.size = 2
                    return
                }
            }
        ),
        (
            "transaction",
            {
                let notes = try $0.notes()
                try notes.transaction { try $0.record(new, in: notes) }
                return "done"
            }
        ),
        (
            "value(forKey:orLoad:), a hit",
            { try await $0.notes().value(forKey: "b") { new }.primaryKey }
        ),
        (
            "value(forKey:orLoad:), a miss",
            { try await $0.notes().value(forKey: "new") { new }.primaryKey }
        ),
        ("delete", { try $0.notes().delete(archiveWithKey: "b") }),
        ("delete(allKeys:)", { try $0.notes().delete(allKeys: ["b", "c"]) }),
        ("deleteAll", { try $0.notes().deleteAll() }),
        ("deleteAll(prefix:)", { try $0.notes().deleteAll(prefix: "b") }),
        (
            "deleteAll(lastUsedBefore:)",
            { try $0.notes().deleteAll(lastUsedBefore: .distantFuture) }
        ),
        ("deleteAll(where:)", { try $0.notes().deleteAll(where: predicate) }),
        ("deleteUndecodable", { try $0.notes().deleteUndecodable() }),
        ("flush", { try $0.notes().flush() }),
        ("drop(archiveNamed:)", { try $0.factory.drop(archiveNamed: "Other") }),
        ("suspend", { try $0.factory.suspend() }),
        ("resume", { try $0.factory.resume() }),
        ("close, of the store", { try $0.notes().close() }),
        ("close", { try $0.factory.close() }),
    ]

    @Test func everyCallOfAnArchiveInEveryState() async throws {
        try await check("Archives", Self.reads + Self.writes)
    }

    // MARK: Caches

    /// A manager in a state, with a cache.
    private final class Caches: Sendable {
        let manager: MiniCacheManager
        let cache: MiniCache<String, Int>
        private let faults = Faults()
        let copies: TemporaryDirectory

        init(_ state: State) throws {
            copies = try TemporaryDirectory()
            let made = MiniCacheManager.inMemory(faults: faults)
            let filled = Self.cache(of: made)
            try filled.set(1, forKey: "a", groups: ["group"])
            try filled.set(2, forKey: "b", groups: ["group"])
            filled.trimMemory(to: .zero)
            _ = try filled.value(forKey: "a")
            guard state == .newerFormat else {
                (manager, cache) = (made, filled)
                switch state {
                case .suspended: try made.suspend()
                case .closed: try made.close()
                case .vanished:
                    try faults.removeFiles()
                    try blockUntil("the cache has begun anew") { try !filled.contains("b") }
                case .fullDisk: faults.fillDisk()
                case .locked: faults.lockFile()
                case .open, .readOnly, .newerFormat: break
                }
                return
            }
            try made.backup(to: copies.file("Caches.sqlite"))
            try made.close()
            try RawDatabase(copies.file("Caches.sqlite")).declareFormat(99)
            manager = MiniCacheManager(name: "Caches", directory: copies.url)
            cache = Self.cache(of: manager)
        }

        private static func cache(of manager: MiniCacheManager) -> MiniCache<String, Int> {
            manager.cache(cacheName: "Cache", cacheVersion: .custom("1"), maxAge: .days(1))
        }
    }

    private typealias CallOfCaches = (String, @Sendable (Caches) async throws -> Any)

    private static func text(_ value: Int?) -> String { value.map { "\($0)" } ?? "none" }

    private static let callsOfCaches: [CallOfCaches] = [
        ("value(forKey:)", { text(try $0.cache.value(forKey: "b")) }),
        ("value(forKey:), in memory", { text(try $0.cache.value(forKey: "a")) }),
        ("cache[key]", { text($0.cache["b"]) }),
        ("values(forKeys:)", { try $0.cache.values(forKeys: ["a", "b", "c"]).count }),
        ("contains", { try $0.cache.contains("b") }),
        ("metadata", { try $0.cache.metadata(forKey: "b") == nil ? "none" : "metadata" }),
        ("keys", { try $0.cache.keys().count }),
        ("keys(group:)", { try $0.cache.keys(group: "group").count }),
        ("keys(prefix:)", { try $0.cache.keys(prefix: "a").count }),
        ("count", { try $0.cache.count() }),
        ("statistics", { try $0.cache.statistics().disk.entries }),
        ("trimMemory", { $0.cache.trimMemory(to: .zero) }),
        ("perform", { try await $0.cache.perform { try $0.count() } }),
        ("value(forKey:orLoad:), a hit", { try await $0.cache.value(forKey: "b") { 3 } }),
        ("value(forKey:orLoad:), a miss", { try await $0.cache.value(forKey: "new") { 3 } }),
        ("load, a miss", { try await $0.cache.load("new") { 3 }.value }),
        ("set", { try $0.cache.set(3, forKey: "new") }),
        ("set(groups:)", { try $0.cache.set(3, forKey: "new", groups: ["group"]) }),
        (
            "cache[key] = value",
            {
                $0.cache["new"] = 3
                return text($0.cache["new"])
            }
        ),
        ("setIfAbsent", { try $0.cache.setIfAbsent(3, forKey: "new") }),
        ("update", { try $0.cache.update(forKey: "b") { $0 = 4 } }),
        ("removeValue", { try $0.cache.removeValue(forKey: "b") }),
        ("removeAll(group:)", { try $0.cache.removeAll(group: "group") }),
        ("removeAll(prefix:)", { try $0.cache.removeAll(prefix: "b") }),
        ("removeAll", { try $0.cache.removeAll() }),
        ("caches()", { try $0.manager.caches().count }),
        ("drop(cacheNamed:)", { try $0.manager.drop(cacheNamed: "Other") }),
        (
            "check",
            {
                let health = try $0.manager.check()
                return health.writeFailure.map { "cannot write: `\($0.code)`" } ?? "healthy"
            }
        ),
        ("backup(to:)", { try $0.manager.backup(to: $0.copies.file("copy.sqlite")) }),
        ("flush", { try $0.manager.flush() }),
        ("suspend", { try $0.manager.suspend() }),
        ("resume", { try $0.manager.resume() }),
        ("removeAll, of the manager", { try $0.manager.removeAll() }),
        ("close", { try $0.manager.close() }),
    ]

    @Test func everyCallOfACacheInEveryState() async throws {
        let states = State.allCases.filter { $0 != .readOnly }
        var table = StateTable("Caches of one machine", states: states.map(\.rawValue))
        for (name, call) in Self.callsOfCaches {
            var outcomes: [String] = []
            for state in states {
                let caches = try Caches(state)
                outcomes.append(await StateTable.outcome { try await call(caches) })
            }
            table.add(name, outcomes)
        }
        try table.check()
    }

    // MARK: Files

    private static let callsOfFiles: [CallOfArchives] = [
        ("archives", { try $0.opened().archives().count }),
        ("archive(named:)", { try $0.opened().archive(named: "Note")?.name ?? "none" }),
        ("summary", { try $0.opened().summary().isOpenElsewhere ? "elsewhere" : "summary" }),
        ("verify", { try $0.opened().verify().isIntact ? "intact" : "damaged" }),
        ("backup(to:)", { try $0.opened().backup(to: $0.copies.file("copy.sqlite")) }),
        ("export(to:)", { try $0.opened().export(to: $0.copies.file("copy.jsonl")).entries }),
        ("compact", { try $0.opened().compact() }),
        ("drop(archiveNamed:)", { try $0.opened().drop(archiveNamed: "Other") }),
        ("RawArchive.summary", { try $0.raw().summary().entries }),
        ("RawArchive.statistics", { try $0.raw().statistics().sizes.values.reduce(0, +) }),
        ("RawArchive.entries", { try $0.raw().entries().count }),
        (
            "RawArchive.forEachEntry",
            {
                var count = 0
                try $0.raw().forEachEntry { _ in count += 1 }
                return count
            }
        ),
        ("RawArchive.entry", { try $0.raw().entry(forKey: "b")?.key ?? "none" }),
        (
            "RawArchive.encodedData",
            { try $0.raw().encodedData(forKey: "b") == nil ? "none" : "data" }
        ),
        ("RawArchive.value", { try $0.raw().value(forKey: "b") == nil ? "none" : "value" }),
        (
            "RawArchive.find",
            {
                var found = 0
                try $0.raw().find(where: { $0["size"] == 1 }) { _ in found += 1 }
                return found
            }
        ),
        ("RawArchive.dateFields", { try $0.raw().dateFields().count }),
        ("RawArchive.remove", { try $0.raw().remove(keys: ["b"]) }),
        ("close", { try $0.opened().close() }),
    ]

    @Test func everyCallOfAFileInEveryState() async throws {
        try await check("Files without their types", Self.callsOfFiles)
    }

    // MARK: Checking

    private func check(_ title: String, _ calls: [CallOfArchives]) async throws {
        var table = StateTable(title, states: State.allCases.map(\.rawValue))
        for (name, call) in calls {
            var outcomes: [String] = []
            for state in State.allCases {
                let archives = try Archives(state)
                outcomes.append(await StateTable.outcome { try await call(archives) })
            }
            table.add(name, outcomes)
        }
        try table.check()
    }
}
