import CrashScript
import Foundation
import TestThreads
import Testing
import VellumCore
import VellumEngine
import Vellum

/// Opens archives, forks, and tries forbidden calls in the new process.
enum ForkMode {
    private typealias Fork = @convention(c) () -> pid_t

    /// Prints the result of each call in the new process, then what this process finds afterwards.
    static func run(_ arguments: [String]) throws {
        let archives = try SharedArchives(in: arguments[2])
        try archives.put(.safe, "k", 1)
        let factory = ArchivesFactory(
            directory: URL(fileURLWithPath: arguments[2]).appendingPathComponent("more")
        )
        let store = try factory.store(for: Item.self)
        // What the runtime has looked up once it finds without a lock, which another thread may
        // have when the process forks.
        let error = VellumError.forked.located(archive: Log.displayed("k"), path: "k")
        _ = "\(error.code)\(error)"
        let identifier = try forkWhileBusy(store)
        guard identifier != 0 else {
            report("hit") { _ = try archives.find(.safe, "k") }
            report("miss") { _ = try archives.find(.safe, "unknown") }
            report("record") { try archives.put(.safe, "k", 2) }
            report("count") { _ = try archives.store(.safe).count() }
            report("flush") { try archives.store(.safe).flush() }
            report("close") { try archives.file.close() }
            report("open") { _ = try SharedArchives(in: arguments[2]) }
            report("face") { try store.record(.expected("k")) }
            report("another handle") { _ = try factory.store(for: Item.self) }
            report("check") { _ = try factory.check() }
            report("factory") { try factory.close() }
            _exit(0)
        }
        var status: Int32 = 0
        waitpid(identifier, &status, 0)
        say("after: \(try archives.find(.safe, "k") ?? -1)")
        try archives.put(.safe, "k", 3)
        say("sound: \(try archives.file.verify().isIntact)")
        try archives.file.close()
    }

    /// Forks before opening anything, as the error of ``run(_:)`` advises.
    static func runFirst(_ arguments: [String]) throws {
        let identifier = try fork()
        guard identifier != 0 else {
            report("child") {
                let archives = try SharedArchives(in: arguments[2])
                try archives.put(.safe, "k", 1)
                try archives.file.close()
            }
            _exit(0)
        }
        var status: Int32 = 0
        waitpid(identifier, &status, 0)
        let archives = try SharedArchives(in: arguments[2])
        say("parent: \(try archives.find(.safe, "k") ?? -1)")
        try archives.file.close()
    }

    /// Swift does not import `fork`.
    private static func fork() throws -> pid_t {
        guard let symbol = dlsym(UnsafeMutableRawPointer(bitPattern: 0), "fork") else {
            throw CocoaError(.featureUnsupported)
        }
        return unsafeBitCast(symbol, to: Fork.self)()
    }

    private static let inMemory = ArchivesFactory.inMemory()

    /// Forks with archives in memory, says what both processes may do with them, and exits while a
    /// global variable holds them.
    static func runInMemory() throws {
        let unused = ArchivesFactory.inMemory()
        try inMemory.store(for: Item.self).record(.expected("k"))
        say(inMemory.directory.path)
        let identifier = try fork()
        if identifier == 0 {
            report("opened before") { _ = try inMemory.store(for: Item.self).count() }
            report("unused") { _ = try unused.store(for: Item.self) }
            exit(0)
        }
        var status: Int32 = 0
        waitpid(identifier, &status, 0)
        report("afterwards") { _ = try inMemory.store(for: Item.self).count() }
        exit(0)
    }

    /// Forks while other threads hold locks of a store, which stay locked in the new process.
    private static func forkWhileBusy(_ store: ArchiveStore<Item>) throws -> pid_t {
        let isOver = Locked(false)
        let threads = (0..<3).map { number in
            Thread {
                var round = 0
                while !isOver.withLock({ $0 }) {
                    round += 1
                    do { try store.record(.expected("\(number) \(round % 50)")) } catch { return }
                }
            }
        }
        for thread in threads { thread.start() }
        try blockUntil("the threads have recorded a hundred objects") { try store.count() >= 100 }
        let identifier = try fork()
        if identifier != 0 { isOver.withLock { $0 = true } }
        return identifier
    }

    private static func report(_ name: String, _ body: () throws -> Void) {
        do {
            try body()
            say("\(name): done")
        } catch {
            say("\(name): \((error as? VellumError)?.code.description ?? "\(error)")")
        }
    }
}
