internal import Foundation
internal import VellumCore
internal import VellumEngine

/// Runs operations on the archives of a folder, records each before and after it in the journal,
/// and compares results with the model.
package final class Performer {
    private let folder: String
    private let journal: Journal
    private let clock: Library.Clock
    private var library: Library?
    package private(set) var model: Model

    package init(in folder: String, _ model: Model, _ journal: Journal) {
        (self.folder, self.model, self.journal) = (folder, model, journal)
        clock = Library.Clock(model.now)
    }

    private func open() throws -> Library {
        if let library { return library }
        let new = try Library(in: folder, model, clock: clock)
        library = new
        return new
    }

    /// Opens the archives in advance, so that opening is not measured.
    package func start() throws { _ = try open() }

    package func perform(_ operation: Step) throws {
        model.operations += 1
        model.now += 10
        clock.now = model.now
        journal.begin(operation, model)
        try carryOut(operation)
        journal.done(model.operations)
    }

    private func carryOut(_ operation: Step) throws {
        let library = try open()
        switch operation {
        case .write(let changes): try write(changes, library)
        case .starved(let changes): try starve(changes, library)
        case .move(let from, let to, let key): try move(key, library.store(from), to, library)
        case .update(let archive, let key): try update(archive, key, library)
        case .read(let archive, let key): try read(archive, key, library)
        case .query(let number): try query(number, library)
        case .flush: try library.store(.safe).flush()
        case .limit(let bytes):
            let store = try library.store(.tight)
            try store.reconfigure(
                memory: store.capacities.memory,
                disk: try Capacity(DataSize(bytes: bytes)),
                caching: .values
            )
        case .forget(let milliseconds):
            try library.store(.tight).removeUnused(
                since: WallInstant(rawValue: model.now - Int64(milliseconds)).date
            )
        case .settle: library.file.waitForMaintenance()
        case .sweep:
            // Ten years, so that it removes nothing.
            try library.store(.safe).setRetention(.after(.seconds(315_360_000)))
            library.file.sweepEverything()
        case .drop:
            try library.close(.cache)
            _ = try library.file.dropArchive(named: ScriptArchive.cache.rawValue)
            try library.open(.cache, model)
        case .reopen: try close()
        case .index, .raise, .replace, .wait: break
        }
        model.apply(operation)
        switch operation {
        case .index, .raise:
            try library.close(.safe)
            try library.open(.safe, model)
        case .replace: try library.open(.cache, model)
        case .wait:
            clock.now = model.now
            library.file.sweepEverything()
        default: break
        }
    }

    package func close() throws {
        let file = library?.file
        library = nil
        try file?.close()
    }

    // MARK: Operations

    private func write(_ changes: [Step.Change], _ library: Library) throws {
        var transaction = StoreTransaction()
        for change in changes {
            let store = try library.store(change.archive)
            switch change.kind {
            case .put(let filling, let age):
                let item = Item(
                    archive: change.archive,
                    key: change.key,
                    version: model.operations,
                    filling: filling
                )
                try transaction.record(
                    item,
                    forKey: EntryKey(change.key),
                    in: store,
                    expiration: age.map { Expiration(age: Int64($0)) }
                )
                if change.archive.hasGroups {
                    try transaction.group(in: [EntryKey(item.groupName)], of: store)
                }
            case .delete: transaction.remove(EntryKey(change.key), in: store)
            case .clear: transaction.removeAll(in: store)
            case .dissolve: transaction.removeAll(ofGroup: EntryKey(change.key), in: store)
            }
        }
        try transaction.commit()
    }

    /// Writes while the system limits files to the size of a page.
    private func starve(_ changes: [Step.Change], _ library: Library) throws {
        try library.store(.safe).flush()
        signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit()
        getrlimit(Self.fileSize, &limit)
        let usual = limit
        limit.rlim_cur = 4096
        setrlimit(Self.fileSize, &limit)
        defer {
            var usual = usual
            setrlimit(Self.fileSize, &usual)
        }
        do {
            try write(changes, library)
            journal.complain("a write succeeded where no file could grow: \(changes)")
        } catch let error as VellumError {
            if error.code == .damagedFile {
                journal.complain("a full disk was taken for damage: \(error)")
            }
        }
    }

    #if canImport(Glibc)
        private static var fileSize: __rlimit_resource_t {
            __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
        }
    #else
        private static var fileSize: Int32 { RLIMIT_FSIZE }
    #endif

    private func move(
        _ key: String,
        _ source: Store<Item>,
        _ to: ScriptArchive,
        _ library: Library
    ) throws {
        let target = try library.store(to)
        try TransactionReads.retrying(on: library.file) { () throws -> Void? in
            var (reads, writes) = (TransactionReads(), StoreTransaction())
            if let item = try reads.value(forKey: EntryKey(key), in: source, after: writes) {
                writes.remove(EntryKey(key), in: source)
                try writes.record(
                    Item(archive: to, key: key, version: model.operations, filling: item.filling),
                    forKey: EntryKey(key),
                    in: target
                )
            }
            return try reads.commit(writes) ? () : nil
        }
    }

    private func update(_ archive: ScriptArchive, _ key: String, _ library: Library) throws {
        try library.store(archive).update(EntryKey(key), AgeOfUpdated(nil, ofNew: nil)) { item in
            item = Item(
                archive: archive,
                key: key,
                version: model.operations,
                filling: Model.filling(after: item?.filling)
            )
        }
    }

    private func read(_ archive: ScriptArchive, _ key: String, _ library: Library) throws {
        let found = try library.store(archive).value(forKey: EntryKey(key))
        let expected = model.visible(on: archive, at: model.now)[key]
        if found?.version != expected {
            journal.complain(
                "\(archive.rawValue) \(key) is \(found?.version ?? -1) and not \(expected ?? -1)"
            )
        }
    }

    private func query(_ number: Int, _ library: Library) throws {
        let store = try library.store(.safe)
        let versions = model.visible(on: .safe, at: model.now).values
        let group = Set(try store.fetch(Item.inGroup(number % 7)).map(\.version))
        let grouped = Set(versions.filter { $0 % 7 == number % 7 })
        if group != grouped {
            journal.complain(
                "of group \(number % 7) there are \(group.sorted()) and not \(grouped.sorted())"
            )
        }
        let tagged = try store.count(Item.tagged("mod\(number % 5)"))
        let expected = versions.count { $0 % 5 == number % 5 }
        if tagged != expected {
            journal.complain("of tag mod\(number % 5) there are \(tagged) and not \(expected)")
        }
    }
}
