internal import Foundation
public import MiniCache
internal import RawDatabase
internal import ScriptedDisk
public import Vellum
internal import VellumCore
internal import VellumEngine

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
/// The files are real ones, in a folder among the system's temporary ones; the calls of SQLite on them fail as the system's would. One `Faults`
/// belongs to one factory or manager. Any thread may call the methods.
public final class Faults: Sendable {
    private let script = Locked<DiskScript?>(nil)
    private let folder = Locked<URL?>(nil)

    /// Creates faults of which none happens yet.
    public init() {}

    deinit { script.withLock { $0 }?.remove() }

    func install(in folder: URL) {
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {}  // Whoever opens the file is told.
        let script = DiskScript(folder: folder)
        self.folder.withLock { $0 = folder }
        self.script.withLock { exchange(&$0, with: script) }?.remove()
    }

    /// No space is left on the disk from now on: writes fail, deleting succeeds, reads go on.
    ///
    /// What fails has the code `diskFull`.
    public func fillDisk() { script.withLock { $0 }?.fail(.noSpace, at: 0, lasting: true) }

    /// The device fails after so many more calls of the system, and from then on.
    ///
    /// What fails has the code `inputOutput`. To try an operation with a failure at each step, call this with 0, 1, 2 and so on until the operation
    /// succeeds.
    ///
    /// - Parameter calls: Less than zero is zero.
    public func fail(after calls: Int = 0) { script.withLock { $0 }?.fail(.failure, at: max(0, calls), lasting: true) }

    /// Another process holds the file's write lock from now on: writes fail, without the ten seconds that they would wait otherwise.
    ///
    /// What fails has the code `busy`.
    public func lockFile() { script.withLock { $0 }?.fail(.locked, at: 0, lasting: true) }

    /// Everything works again.
    public func heal() { script.withLock { $0 }?.heal() }

    /// How many calls have failed so far.
    public var failedCalls: Int { script.withLock { $0 }?.injected ?? 0 }

    /// Removes the files, as a system does that needs space.
    ///
    /// Archives and caches notice it within some milliseconds, and begin anew.
    ///
    /// - Throws: The error of the system.
    public func removeFiles() throws {
        guard let folder = folder.withLock({ $0 }) else { return }
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where name.contains(".sqlite") {
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

extension ArchiveStore {
    /// Damages what the disk has under a key: the next access, which reads the disk, has the code `damagedEntry`.
    ///
    /// Blocks for the disk. Memory forgets everything that it has of the archive.
    ///
    /// - Returns: Whether there was an object.
    /// - Throws: The error of the disk.
    @discardableResult
    public func damage(archiveWithKey key: String) throws -> Bool {
        try flush()
        defer { trimMemory(to: .zero) }
        return try damageEntry(of: EntryKey(key), in: place)
    }
}

extension MiniCache {
    /// Damages what the disk has under a key: the next read of the disk has the code `damagedEntry`.
    ///
    /// Everything else is as for an `ArchiveStore`.
    ///
    /// - Returns: Whether there was a value.
    /// - Throws: The error of the disk.
    @discardableResult
    public func damage(forKey key: Key) throws -> Bool {
        try flush()
        defer { trimMemory(to: .zero) }
        return try damageEntry(of: storedKey(of: key), in: place)
    }
}

private func damageEntry(of key: EntryKey, in place: (file: DatabaseFile, archive: Archive)) throws -> Bool {
    let name = key.normalized.utf8.map { String(UInt16($0) | 0x100, radix: 16).dropFirst() }.joined()
    let entry = "key = x'\(name)' AND id >> \(EntryID.bits) = \(place.archive.id)"
    let database = try RawDatabase(place.file.url)
    guard try database.int("SELECT count(*) FROM entries WHERE \(entry)") > 0 else { return false }
    try database.execute("UPDATE entries SET checksum = checksum + 1 WHERE \(entry)")
    return true
}
