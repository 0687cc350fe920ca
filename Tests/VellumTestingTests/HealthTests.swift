import Foundation
import MiniCache
import TestThreads
import Testing
import Vellum
import VellumTesting

/// Checks of archives and caches, as a route of a server calls them.
@Suite(.ownThreads)
struct HealthTests {
    static let faultsOfWrites: [(begin: @Sendable (Faults) -> Void, code: VellumError.Code)] = [
        ({ $0.fillDisk() }, .diskFull), ({ $0.lockFile() }, .busy),
    ]

    /// How long a check of a file that is well waits for others that write: as long as a busy
    /// machine takes.
    private static let long = Duration.seconds(3600)

    @Test(arguments: 0..<faultsOfWrites.count)
    func aFileThatCannotBeWrittenIsReportedUntilItIsMended(_ number: Int) throws {
        let (begin, code) = Self.faultsOfWrites[number]
        let (faults, others) = (Faults(), Faults())
        let factory = ArchivesFactory.inMemory(faults: faults)
        let notes: ArchiveStore<Note> = try factory.store()
        let manager = MiniCacheManager.inMemory(faults: others)
        try notes.record(Note(title: "a"))
        let checks: [(Faults, (Duration) throws -> FileHealth)] = [
            (faults, { try factory.check(timeout: $0) }),
            (others, { try manager.check(timeout: $0) }),
        ]
        for (faults, check) in checks {
            #expect(try check(Self.long).isHealthy)
            begin(faults)
            let health = try check(code == .busy ? .milliseconds(250) : Self.long)
            #expect(!health.isHealthy && health.writeFailure?.code == code)
            faults.heal()
            #expect(try check(Self.long).isHealthy)
        }
        #expect(try notes.access(archiveWithKey: "a") != nil)
    }

    @Test func aDeviceThatDoesNotReadIsAnErrorAndNoDamage() throws {
        let faults = Faults()
        let factory = ArchivesFactory.inMemory(faults: faults)
        let notes: ArchiveStore<Note> = try factory.store()
        try notes.record(Note(title: "a"))
        #expect(try factory.check(timeout: Self.long).isHealthy)
        // A failure at each step: whatever it is, the file is well afterwards.
        for calls in 0..<20 {
            faults.fail(after: calls)
            do {
                if let failure = try factory.check(timeout: Self.long).writeFailure {
                    #expect(failure.code == .inputOutput, "\(calls): \(failure)")
                }
            } catch {
                #expect([.inputOutput, .cannotOpen].contains(error.code), "\(calls): \(error)")
            }
            faults.heal()
            let health = try factory.check(timeout: Self.long)
            #expect(health.isHealthy, "\(calls): \(health)")
        }
        #expect(try notes.access(archiveWithKey: "a") != nil)
    }

    @Test func removedArchivesAreAnErrorUntilTheyAreOpenedAgain() throws {
        let faults = Faults()
        let factory = ArchivesFactory.inMemory(faults: faults)
        let notes: ArchiveStore<Note> = try factory.store()
        try faults.removeFiles()
        for _ in 0..<2 { #expect(throws: VellumError.self) { _ = try factory.check() } }
        #expect(throws: VellumError.self) { try notes.record(Note(title: "a")) }
        _ = try factory.store(for: Note.self)
        #expect(try factory.check(timeout: Self.long).isHealthy)
    }

    /// A cache begins anew by itself.
    @Test func removedCachesAreMadeAnew() throws {
        let faults = Faults()
        let manager = MiniCacheManager.inMemory(faults: faults)
        #expect(try manager.check(timeout: Self.long).isHealthy)
        try faults.removeFiles()
        let error = #expect(throws: MiniCacheError.self) { _ = try manager.check() }
        #expect(error?.code == .vanished)
        #expect(try manager.check(timeout: Self.long).isHealthy)
        try manager.suspend()
        #expect(throws: MiniCacheError.self) { _ = try manager.check() }
        try manager.resume()
        #expect(try manager.check(timeout: Self.long).isHealthy)
    }

    @Test func aFactoryThatOnlyReadsIsHealthyWithoutWriting() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "Health-\(UUID().uuidString)"
        )
        defer { try? FileManager.default.removeItem(at: folder) }
        let factory = ArchivesFactory(directory: folder)
        #expect(try factory.check(timeout: Self.long).isHealthy)
        try factory.store(for: Note.self).record(Note(title: "a"))
        try factory.close()
        let file = folder.appendingPathComponent("Archives.sqlite")
        for mode in [0o700, 0o500] {
            try FileManager.default.setAttributes(
                [.posixPermissions: mode],
                ofItemAtPath: folder.path
            )
            let reading = ArchivesFactory(readingOnly: file)
            let health = try reading.check()
            #expect(
                health.isHealthy && health.writeTime == nil
                    && health.description.contains("only read")
            )
            #expect(throws: VellumError.self) {
                try reading.store(for: Note.self).record(Note(title: "b"))
            }
            #expect(try reading.check().lastFailure == nil)
            try reading.close()
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path)
        let missing = folder.appendingPathComponent("missing")
        #expect(throws: VellumError.self) { _ = try ArchivesFactory(readingOnly: missing).check() }
        #expect(!FileManager.default.fileExists(atPath: missing.path))
        // A factory that was closed opens its file again.
        #expect(try factory.check(timeout: Self.long).isHealthy)
    }

    @Test func aClosureOfAnUpdateOrATransactionMayCheck() throws {
        let factory = ArchivesFactory.inMemory()
        let notes: ArchiveStore<Note> = try factory.store()
        func isHealthy() -> Bool { (try? factory.check(timeout: Self.long).isHealthy) ?? false }
        try notes.update(archiveWithKey: "a") { note in
            #expect(isHealthy())
            note = Note(title: "a", number: 1)
        }
        try factory.transaction { transaction in
            try transaction.record(Note(title: "b"), in: notes)
            #expect(isHealthy())
            let found = try transaction.access(archiveWithKey: "a", in: notes)
            #expect(found?.number == 1)
        }
        #expect(try notes.count() == 2)
    }

    @Test(arguments: [Durability.relaxed, .crashSafe]) func manyChecksBesideManyWritersLoseNoWrite(
        _ durability: Durability
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "Health-\(UUID().uuidString)"
        )
        defer { try? FileManager.default.removeItem(at: folder) }
        let factory = ArchivesFactory(directory: folder, durability: durability)
        let notes: ArchiveStore<Note> = try factory.store(diskLimit: .unlimited)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    try await notes.perform { notes in
                        for number in 0..<100 {
                            try notes.record(Note(title: "\(writer) \(number)"))
                        }
                    }
                }
            }
            for _ in 0..<8 {
                group.addTask {
                    try await notes.perform { _ in
                        for _ in 0..<25 {
                            let health = try factory.check(timeout: Self.long)
                            #expect(health.isHealthy && health.lastFailure == nil, "\(health)")
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try notes.count() == 400)
        try factory.close()
        #expect(try ArchivesFactory(directory: folder).store(for: Note.self).count() == 400)
    }
}
