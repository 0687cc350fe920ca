internal import Foundation
public import MiniCache
internal import ScriptedDisk
public import Vellum
internal import VellumCore

/// What goes wrong with the disk under archives or caches, when a test says so.
///
/// ```swift
/// let faults = Faults()
/// let archives = ArchivesFactory.inMemory(faults: faults)
/// let notes: ArchiveStore<Note> = try archives.store()
/// faults.fillDisk()
/// #expect(throws: VellumError.self) { try notes.record(note) }
/// faults.heal()
/// ```
///
/// The files are real ones, in a folder among the system's temporary ones; the calls of SQLite on
/// them fail as the system's would. One `Faults` belongs to one factory or manager. Any thread may
/// call the methods.
public final class Faults: Sendable {
    private let script = Locked<DiskScript?>(nil)
    private let folder = Locked<URL?>(nil)

    /// Creates faults of which none happens yet.
    public init() {}

    deinit {
        heal()
        script.withLock { $0 }?.remove()
    }

    func install(in folder: URL) {
        do {
            try FileManager.default.createDirectory(
                at: folder,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {}  // Whoever opens the file is told.
        let script = DiskScript(folder: folder)
        self.folder.withLock { $0 = folder }
        self.script.withLock { exchange(&$0, with: script) }?.remove()
    }

    /// No space is left on the disk from now on: records fail, deleting succeeds, and reads go on.
    ///
    /// What fails has the code `diskFull`. On a real disk a small record may still find room in a
    /// page; here none does.
    public func fillDisk() { script.withLock { $0 }?.fill() }

    /// The device fails after so many more calls of the system, and from then on.
    ///
    /// What fails has the code `inputOutput`. To try an operation with a failure at each step, call
    /// this with 0, 1, 2 and so on, and ``heal()`` after each, until the operation succeeds.
    ///
    /// - Parameter calls: Less than zero is zero.
    public func fail(after calls: Int = 0) {
        script.withLock { $0 }?.fail(.failure, at: max(0, calls), lasting: true)
    }

    /// Another process holds the file's write lock from now on: writes fail, without the ten
    /// seconds that they would wait otherwise.
    ///
    /// What fails has the code `busy`.
    public func lockFile() {
        script.withLock { $0 }?.fail(.locked, at: 0, lasting: true)
    }

    /// Everything works again.
    public func heal() { script.withLock { $0 }?.heal() }

    /// How many calls have failed so far.
    public var failedCalls: Int { script.withLock { $0 }?.injected ?? 0 }

    /// Removes the files, as a system does that needs space.
    ///
    /// Within some milliseconds calls on an archive have the code `vanished`, until it is opened
    /// again. A cache begins anew by itself.
    ///
    /// - Throws: The error of the system.
    public func removeFiles() throws {
        guard let folder = folder.withLock({ $0 }) else { return }
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
        where name.contains(".sqlite") {
            try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
        }
    }
}

extension ArchivesFactory {
    /// Creates a factory as `inMemory(clock:)` does, whose disk fails when a test says so.
    ///
    /// - Parameters:
    ///   - faults: What goes wrong. Nothing, until one of its methods is called.
    ///   - clock: The source of the time; `nil` for the system's.
    public static func inMemory(faults: Faults, clock: TestClock? = nil) -> ArchivesFactory {
        let factory = inMemory(clock: clock?.wallClock ?? .system)
        faults.install(in: factory.directory)
        return factory
    }
}

extension MiniCacheManager {
    /// Creates a manager as `inMemory(clock:)` does, whose disk fails when a test says so.
    ///
    /// - Parameters:
    ///   - faults: What goes wrong. Nothing, until one of its methods is called.
    ///   - clock: The source of the time; `nil` for the system's.
    public static func inMemory(faults: Faults, clock: TestClock? = nil) -> MiniCacheManager {
        let manager = inMemory(clock: clock?.wallClock ?? .system)
        faults.install(in: manager.url.deletingLastPathComponent())
        return manager
    }
}
