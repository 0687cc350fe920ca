import CrashScript
import Foundation
import MiniCache
import VellumCore
import VellumEngine

/// Uses up every file descriptor of the process, and continues.
enum DescriptorMode {
    static func run(_ arguments: [String]) throws {
        var limit = rlimit(rlim_cur: 64, rlim_max: 64)
        #if canImport(Glibc)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        #else
            setrlimit(RLIMIT_NOFILE, &limit)
        #endif
        let archives = try SharedArchives(in: arguments[2])
        try archives.put(.safe, "k", 1)
        var taken: [Int32] = []
        while case let descriptor = open("/dev/null", O_RDONLY), descriptor >= 0 {
            taken.append(descriptor)
        }
        do {
            _ = try SharedArchives(in: arguments[2] + "/other")
            say("open: done")
        } catch {
            say("open: \((error as? VellumError)?.code.description ?? "\(error)")")
        }
        // A folder that cannot be locked is no reason to wait.
        let memory: MiniCache<String, Int> = MiniCacheManager.inMemory().cache(
            cacheName: "Numbers",
            cacheVersion: .custom("1"),
            maxAge: .days(7)
        )
        do {
            try memory.set(1, forKey: "a")
            say("memory: done")
        } catch {
            say("memory: \(error.code)")
        }
        // Open files need no further descriptors.
        try archives.put(.safe, "k", 1)
        say("put: done")
        say("find: \(try archives.find(.safe, "k") ?? -1)")
        for descriptor in taken { close(descriptor) }
        let other = try SharedArchives(in: arguments[2] + "/other")
        try other.put(.safe, "k", 2)
        say("again: \(try other.find(.safe, "k") ?? -1)")
        let areSound = try other.file.verify().isIntact && archives.file.verify().isIntact
        say("sound: \(areSound)")
    }
}
