import Foundation
import MiniCache
import Samples
import Vellum

/// A cache and an archive of the same users, each with its own file.
struct CacheSide {
    let manager: MiniCacheManager
    let cache: MiniCache<String, User>
    let archives: ArchivesFactory
    let archive: ArchiveStore<User>

    /// - Parameter memory: The memory limit of both.
    init(_ workspace: Workspace, _ work: Work, _ scale: Scale, memory: DataSize) throws {
        let folder = try workspace.folder(
            "scratch/\(work.rawValue)-\(scale.rawValue)-\(UUID().uuidString)"
        )
        manager = MiniCacheManager(name: "Users", directory: folder)
        cache = manager.cache(
            cacheName: "Users",
            cacheVersion: .custom("1"),
            maxAge: .days(7),
            memoryLimit: memory,
            diskLimit: .everything
        )
        archives = ArchivesFactory(directory: folder.appendingPathComponent("archives"))
        archive = try archives.archives(
            for: User.self,
            trySetMaxMemorySize: memory,
            trySetMaxDiskSize: .everything
        ).store
        for index in 0..<scale.rawValue {
            let user = User.make(index)
            try cache.set(user, forKey: user.primaryKey)
            try archive.record(user)
        }
        try archive.flush()
        try manager.flush()
    }

    /// Keys of existing entries, in an irregular order.
    static func keys(_ scale: Scale) -> [String] {
        (0..<65_536).map { User.key(Scatter.place($0) % scale.rawValue) }
    }

    func close() throws {
        try manager.close()
        try archives.close()
    }
}
