import Foundation
import MiniCache
import Samples
import Vellum

/// A cache of users and an archive of them, each over a file of its own that holds the same.
struct CacheSide {
    let manager: MiniCacheManager
    let cache: MiniCache<String, User>
    let archives: ArchivesFactory
    let archive: ArchiveStore<User>

    /// - Parameter memory: What memory may hold on either side.
    init(_ desk: Desk, _ work: Work, _ scale: Scale, memory: DataSize) throws {
        let folder = try desk.folder("scratch/\(work.rawValue)-\(scale.rawValue)-\(UUID().uuidString)")
        manager = MiniCacheManager(name: "Users", directory: folder)
        cache = manager.cache(
            cacheName: "Users", cacheVersion: .custom("1"), maxAge: .days(7), memoryLimit: memory, diskLimit: .everything)
        archives = ArchivesFactory(directory: folder.appendingPathComponent("archives"))
        archive = try archives.archives(for: User.self, trySetMaxMemorySize: memory, trySetMaxDiskSize: .everything).store
        for index in 0..<scale.rawValue {
            let user = User.make(index)
            try cache.set(user, forKey: user.primaryKey)
            try archive.record(user)
        }
        try archive.flush()
        try manager.flush()
    }

    /// Keys of what is there, in no order.
    static func keys(_ scale: Scale) -> [String] { (0..<65_536).map { User.key(Scatter.place($0) % scale.rawValue) } }

    func close() throws {
        try manager.close()
        try archives.close()
    }
}
