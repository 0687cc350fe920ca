import Foundation
import Samples
import Vellum

/// Stores with a number of entries, filled on first use and kept for later comparisons of the run.
///
/// Small stores are copied for each comparison, so that recorded entries do not add up. For a
/// million, some thousands more do not matter.
struct StoreFixture<Value: Subject> {
    let workspace: Workspace
    let count: Int

    enum Kind: String {
        case vellum, lean, grdb, files, lmdb, mmkv

        /// The name of the store's file in its folder.
        var file: String { self == .vellum ? "Archives.sqlite" : "database.sqlite" }
    }

    /// Returns a folder with a store of that kind that no other side of this process uses.
    ///
    /// - Parameter purpose: Distinguishes sides that need a store of one kind in the same process.
    func folder(_ kind: Kind, _ purpose: String = "") throws -> URL {
        let name = "\(kind.rawValue)-\(Value.title)-\(count)".replacing(" ", with: "-")
        let full = workspace.folder.appendingPathComponent("stores/" + name)
        if !FileManager.default.fileExists(atPath: full.path) { try fill(kind, full) }
        let isLarge = count >= 1_000_000
        let own = workspace.folder.appendingPathComponent(
            "\(isLarge ? "stores" : "scratch")/\(name)-own-\(purpose)"
        )
        if isLarge, purpose.isEmpty { return full }
        if !isLarge { try? FileManager.default.removeItem(at: own) }
        if !FileManager.default.fileExists(atPath: own.path) {
            try FileManager.default.createDirectory(
                at: own.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try FileManager.default.copyItem(at: full, to: own)
        }
        return own
    }

    func path(_ kind: Kind, _ purpose: String = "") throws -> String {
        try folder(kind, purpose).appendingPathComponent(kind.file).path
    }

    private func fill(_ kind: Kind, _ folder: URL) throws {
        let half = folder.appendingPathExtension("half")
        try? FileManager.default.removeItem(at: half)
        try FileManager.default.createDirectory(at: half, withIntermediateDirectories: true)
        let path = half.appendingPathComponent(kind.file).path
        switch kind {
        case .vellum:
            let factory = ArchivesFactory(directory: half)
            let store = try factory.store(
                for: Value.self,
                memoryLimit: 1.megaByte,
                diskLimit: .everything
            )
            try inChunks { try store.record(contentsOf: $0) }
            try factory.close()
        case .lean:
            let table = try LeanTable<Value>(path, .crashSafe)
            try inChunks(table.record)
            table.close()
        case .grdb:
            let peer = try Peer<Value>(path, .crashSafe)
            try inChunks(peer.record)
            try peer.close()
        case .files:
            let files = Files<Value>(half)
            try inChunks { for value in $0 { try files.fill(value) } }
        case .lmdb, .mmkv:
            let store = try (kind == .lmdb ? LibraryStore.lmdbUnsynced : .mmkv).open(half)
            try inChunks {
                try store.record($0.map { (key: $0.primaryKey, bytes: try $0.archive()) })
            }
            store.close()
        }
        try FileManager.default.moveItem(at: half, to: folder)
    }

    private func inChunks(_ body: ([Value]) throws -> Void) throws {
        for start in stride(from: 0, to: count, by: 50_000) {
            try body((start..<min(start + 50_000, count)).map { Value.make($0, of: count) })
        }
    }
}

extension DataSize {
    /// More than any comparison stores.
    static let everything = 64.gigaBytes
}
