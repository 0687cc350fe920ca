import Foundation
import Samples

/// A library that is measured only where `peers.sh` finds it.
enum Library: String {
    case lmdb = "LMDB"
    case mmkv = "MMKV"
    case lruCache = "LRUCACHE"

    /// Whether this program was built with it.
    var isThere: Bool {
        switch self {
        case .lmdb:
            #if HAS_LMDB
                true
            #else
                false
            #endif
        case .mmkv:
            #if HAS_MMKV
                true
            #else
                false
            #endif
        case .lruCache:
            #if HAS_LRUCACHE
                true
            #else
                false
            #endif
        }
    }

    /// Why it is not measured.
    var reasonNotRun: String {
        ProcessInfo.processInfo.environment["VELLUM_BENCH_WITHOUT_\(rawValue)"]
            ?? "run by run.sh only"
    }
}

/// Stores encoded objects under their keys.
protocol ByteStore: AnyObject {
    func record(_ entries: [(key: String, bytes: Data)]) throws
    func bytes(_ key: String) throws -> Data?
    func close()
}

/// The ways in which libraries of key-value stores are measured.
enum LibraryStore: CaseIterable {
    case lmdb, lmdbSynced, lmdbUnsynced, mmkv

    /// Those that are compared in this work.
    private static func all(_ work: Work) -> [LibraryStore] {
        switch work {
        case .diskHit: [.lmdb, .mmkv]
        case .recordNew, .recordOver: [.lmdbUnsynced, .lmdbSynced, .mmkv]
        case .recordPowerSafe: [.lmdbSynced]
        default: []
        }
    }

    /// Those of them that are measured.
    static func measured(_ work: Work) -> [LibraryStore] { all(work).filter(\.library.isThere) }

    /// The reasons why sides are not measured, by their names.
    static func notRun(_ work: Work) -> [String: String] {
        let missing = all(work).filter { !$0.library.isThere }
        return Dictionary(uniqueKeysWithValues: missing.map { ($0.name, $0.library.reasonNotRun) })
    }

    var name: String {
        switch self {
        case .lmdb: "LMDB"
        case .lmdbSynced: "LMDB, synced"
        case .lmdbUnsynced: "LMDB, MDB_NOSYNC"
        case .mmkv: "MMKV"
        }
    }

    /// What survives when a record has returned.
    var durability: String? {
        switch self {
        case .lmdb: nil
        case .lmdbSynced: "power-safe"
        case .lmdbUnsynced, .mmkv: "kill-safe only"
        }
    }

    var library: Library { self == .mmkv ? .mmkv : .lmdb }

    /// Opens a store that has the entries of a fixture.
    func open<Value>(_ fixture: StoreFixture<Value>) throws -> any ByteStore {
        try open(fixture.folder(self == .mmkv ? .mmkv : .lmdb, self == .lmdbSynced ? "synced" : ""))
    }

    /// The number of rounds in which it has one turn. A sync for each commit takes so long that it
    /// would slow the other sides.
    func every(_ work: Work) -> Int { self == .lmdbSynced && work != .recordPowerSafe ? 25 : 1 }

    /// Opens the store of a folder.
    func open(_ folder: URL) throws -> any ByteStore {
        switch self {
        case .lmdb, .lmdbSynced, .lmdbUnsynced:
            #if HAS_LMDB
                return try LMDBStore(folder, isSynced: self != .lmdbUnsynced)
            #else
                throw CocoaError(.featureUnsupported)
            #endif
        case .mmkv:
            #if HAS_MMKV
                return try MMKVStore(folder)
            #else
                throw CocoaError(.featureUnsupported)
            #endif
        }
    }
}
