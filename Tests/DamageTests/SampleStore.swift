import Foundation
import RawDatabase
import VellumCore
import VellumEngine
import VellumTestSupport

/// The files of a small store that a killed process left, and everything that was ever recorded in
/// it.
///
/// Pages are small, so that few bytes contain every kind of page: roots, branches, leaves,
/// overflow, pointer maps and free pages.
struct SampleStore: Sendable {
    static let name = "Archives.sqlite"
    /// The archives; "people" has an index, some entries of "expiring" expire, and the last is a
    /// cache.
    static let archives = ["plain", "people", "expiring", "cache"]

    /// The files by the suffix of the database's name.
    private(set) var files: [String: Data] = [:]
    /// The database before the last writes.
    private(set) var earlier = Data()
    /// Every value that was ever recorded, by archive and key.
    private(set) var history: [Place: Set<Specimen>] = [:]
    /// The values that a reader finds in the intact files.
    private(set) var present: [Place: Specimen] = [:]
    let pageSize: Int

    struct Place: Hashable, Sendable {
        var archive: String
        var key: String
    }

    init(pageSize: Int, seed: UInt64) throws {
        self.pageSize = pageSize
        let folder = try TemporaryDirectory()
        let url = folder.file(Self.name)
        try RawDatabase(url).execute(
            "PRAGMA page_size = \(pageSize); PRAGMA auto_vacuum = INCREMENTAL; VACUUM"
        )
        var writer = SampleWriter(seed: seed, clock: Self.clock)

        try writer.open(url)
        for archive in Self.archives {
            for number in 0..<(archive == "plain" ? 22 : archive == "people" ? 14 : 6) {
                try writer.record(archive, number, version: 0)
            }
        }
        for number in 0..<7 { try writer.record("plain", number * 3, version: 1) }
        for number in 8..<11 { try writer.remove("people", number) }
        try writer.close()
        earlier = try Data(contentsOf: url)

        try writer.open(url)
        for number in 0..<4 { try writer.record("plain", number * 5, version: 2) }
        for number in 0..<3 { try writer.record("people", number * 3, version: 2) }
        for number in [1, 7] { try writer.remove("plain", number) }
        try writer.record("cache", 3, version: 2)
        files = try writer.filesOfKilledProcess(url)
        try writer.close()
        (history, present) = (writer.history, writer.present)
        values = Dictionary(grouping: present, by: \.key.archive).mapValues { Set($0.map(\.value)) }
    }

    private var values: [String: Set<Specimen>] = [:]

    /// Whether a reader of the archive finds this value under its key.
    func isPresent(_ specimen: Specimen, in archive: String) -> Bool {
        values[archive]?.contains(specimen) ?? false
    }

    static let clock = WallClock(instants: { WallInstant(rawValue: 1_800_000_000_000) })

    static func open(_ name: String, in file: DatabaseFile) throws(VellumError) -> Store<Specimen> {
        try file.store(
            named: name,
            codec: Specimen.Codec(),
            cacheVersion: name == "cache" ? "1" : nil,
            memory: Capacity(1.megaByte),
            disk: Capacity(10.megaByte),
            caching: .values,
            indexing: name == "people" ? Specimen.catalog : nil
        )
    }
}

/// Writes a sample store, and records its contents.
private struct SampleWriter {
    private(set) var history: [SampleStore.Place: Set<Specimen>] = [:]
    private(set) var present: [SampleStore.Place: Specimen] = [:]
    private var random: SeededGenerator
    private let clock: WallClock
    private var file: DatabaseFile?
    private var stores: [String: Store<Specimen>] = [:]

    init(seed: UInt64, clock: WallClock) {
        random = SeededGenerator(seed: seed)
        self.clock = clock
    }

    mutating func open(_ url: URL) throws {
        let file = try DatabaseFile.open(at: url, clock: clock)
        self.file = file
        for archive in SampleStore.archives {
            stores[archive] = try SampleStore.open(archive, in: file)
        }
        file.waitForMaintenance()
    }

    mutating func close() throws {
        try file?.close()
        file = nil
        stores = [:]
    }

    mutating func record(_ archive: String, _ number: Int, version: Int) throws {
        let place = SampleStore.Place(archive: archive, key: "key \(number)")
        // Some are longer than a page.
        let length = number % 9 == 4 ? 700 : Int.random(in: 0..<50, using: &random)
        let filler = String(
            decoding: (0..<length).map { _ in UInt8.random(in: 97...122, using: &random) },
            as: UTF8.self
        )
        let specimen = Specimen(
            archive: archive,
            key: place.key,
            version: version,
            age: number * 7 % 60,
            tags: number % 2 == 0 ? ["even", "all"] : ["all"],
            filler: filler
        )
        let expiration: Expiration? =
            archive != "expiring" ? nil : .after(seconds: Double(1000 * (number + 1)))
        try stores[archive]?.record(specimen, forKey: EntryKey(place.key), expiration: expiration)
        history[place, default: []].insert(specimen)
        present[place] = specimen
    }

    mutating func remove(_ archive: String, _ number: Int) throws {
        let place = SampleStore.Place(archive: archive, key: "key \(number)")
        try stores[archive]?.remove(EntryKey(place.key))
        present[place] = nil
    }

    /// The files that a killed process would leave now.
    func filesOfKilledProcess(_ url: URL) throws -> [String: Data] {
        var files: [String: Data] = [:]
        // Closing a file of the store drops its locks, which does not matter without another
        // process.
        for suffix in ["", "-wal", "-shm"] {
            files[suffix] = try Data(contentsOf: URL(fileURLWithPath: url.path + suffix))
        }
        return files
    }
}
