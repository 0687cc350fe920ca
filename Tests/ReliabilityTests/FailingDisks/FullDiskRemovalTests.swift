import Foundation
import TestThreads
import Testing
import Vellum
import VellumCore
import VellumEngine
import VellumTestSupport

/// README: on a full disk records fail, and deleting succeeds. On a real file system without a free
/// block, each way to delete deletes what it should and nothing else.
@Suite(.ownThreads, .serialized)
struct FullDiskRemovalTests {
    struct Note: ArchiveCodable, Equatable {
        var primaryKey: String
        var number: Int
        var text: String

        static let archiveIndexes: [ArchiveIndex<Note>] = [.index(\.number)]
    }

    struct Draft: ArchiveCodable, Equatable {
        var primaryKey: String
        var number: Int
        var text: String
    }

    enum Way: CaseIterable {
        case keys, prefix, predicate, scan, transaction
    }

    /// What the volumes hold: in every run two small ones.
    private static let sizes: [(megabytes: Int, length: Int)] =
        LongRun.number(5, usually: 2) == 2
        ? [(4, 200), (4, 5000)] : [(4, 200), (4, 5000), (20, 200), (20, 5000), (64, 5000)]

    /// The objects that are removed: those of one part of the keys, or every third.
    enum Place: CaseIterable { case dense, scattered }

    private func isRemoved(_ number: Int, _ place: Place, of count: Int) -> Bool {
        switch place {
        case .dense: number >= count / 4 && number < count * 3 / 4
        case .scattered: number % 3 == 1
        }
    }

    private func key(_ number: Int, _ place: Place, of count: Int) -> String {
        (isRemoved(number, place, of: count) ? "old/" : "new/") + "\(number)"
    }

    private struct Archives {
        let factory: ArchivesFactory
        let notes: ArchiveStore<Note>
        let drafts: ArchiveStore<Draft>

        init(_ volume: SmallVolume) throws {
            factory = ArchivesFactory(directory: volume.url)
            notes = try factory.store(
                for: Note.self,
                memoryLimit: 1.byte,
                diskLimit: 10.gigaByte
            )
            drafts = try factory.store(
                for: Draft.self,
                memoryLimit: 1.byte,
                diskLimit: 10.gigaByte
            )
        }
    }

    /// Records until no space is left, in both archives by turns.
    ///
    /// - Returns: How many objects each has.
    private func fill(_ archives: Archives, _ length: Int, _ place: Place, _ planned: Int) -> Int {
        let text = String(repeating: "x", count: length)
        for number in 0..<200_000 {
            let key = key(number, place, of: planned)
            do {
                try archives.notes.record(Note(primaryKey: key, number: number, text: text))
                try archives.drafts.record(Draft(primaryKey: key, number: number, text: text))
            } catch {
                #expect((error as? VellumError)?.code == .diskFull)
                return number
            }
        }
        Issue.record("The volume is never full.")
        return 0
    }

    @Test(arguments: Way.allCases, sizes)
    func whatIsDeletedOnAFullDiskIsGone(_ way: Way, _ size: (megabytes: Int, length: Int)) throws {
        for place in Place.allCases {
            guard let volume = try SmallVolume(megabytes: size.megabytes) else { return }
            let planned = (size.megabytes << 20) / (2 * (size.length + 160))
            var archives = try Archives(volume)
            let count = fill(archives, size.length, place, planned)
            let removed = (0..<count).filter { isRemoved($0, place, of: planned) }
            let isFresh = place == .scattered
            if isFresh {
                try close(archives)
                archives = try Archives(volume)
            }
            let deleted = try delete(removed, way, place, planned, archives)
            // The last note may be without its draft.
            #expect(0...1 ~= deleted - removed.count, "\(place)")
            try expect(archives, removed, way, place, planned, count)
            // What was removed has made room, but for a row here and there in the pages.
            let again = Result {
                try archives.notes.record(Note(primaryKey: "again", number: 0, text: "again"))
            }
            if place == .dense || size.length > 4096 { try again.get() }
            let more = if case .success = again { 1 } else { 0 }
            let file = try DatabaseFile.open(at: volume.file("Archives.sqlite"))
            #expect(try file.verify().isIntact)
            try close(archives)
            try expect(try Archives(volume), removed, way, place, planned, count, more: more)
        }
    }

    /// There may be no room to write when objects were used last.
    private func close(_ archives: Archives) throws {
        do {
            try archives.factory.close()
        } catch let error as VellumError where error.code == .diskFull {}
    }

    private func delete(
        _ removed: [Int],
        _ way: Way,
        _ place: Place,
        _ planned: Int,
        _ archives: Archives
    ) throws -> Int {
        let keys = removed.map { key($0, place, of: planned) }
        let low = planned / 4
        let high = planned * 3 / 4
        switch way {
        case .keys: return try archives.notes.delete(allKeys: keys)
        case .prefix: return try archives.notes.deleteAll(prefix: "old/")
        case .predicate where place == .dense:
            return try archives.notes.deleteAll(
                where: #Predicate { $0.number >= low && $0.number < high }
            )
        case .predicate:
            return try archives.notes.deleteAll(where: #Predicate { $0.number % 3 == 1 })
        case .scan:
            return try archives.notes.deleteAll(
                where: #Predicate { $0.primaryKey.starts(with: "old/") }
            )
        case .transaction:
            try archives.factory.transaction { transaction in
                for key in keys {
                    transaction.delete(archiveWithKey: key, in: archives.notes)
                    transaction.delete(archiveWithKey: key, in: archives.drafts)
                }
            }
            return keys.count
        }
    }

    private func expect(
        _ archives: Archives,
        _ removed: [Int],
        _ way: Way,
        _ place: Place,
        _ planned: Int,
        _ count: Int,
        more: Int = 0
    ) throws {
        let drafts = way == .transaction ? removed.count : 0
        let present = try archives.notes.count()
        #expect(0...1 ~= present - (count - removed.count) - more, "\(place)")
        #expect(try archives.drafts.count() == count - drafts)
        let half = planned / 2
        let later = try archives.notes.count(where: #Predicate { $0.number >= half })
        let expected = (half..<max(half, count)).count { !isRemoved($0, place, of: planned) }
        #expect(0...1 ~= later - expected, "\(place)")
        for number in stride(from: 0, to: count, by: 97) {
            let note = try archives.notes.access(archiveWithKey: key(number, place, of: planned))
            #expect((note == nil) == isRemoved(number, place, of: planned))
        }
    }
}
