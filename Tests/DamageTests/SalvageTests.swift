import Foundation
import RawDatabase
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// What is salvaged of a damaged file, and which files are kept.
@Suite(.ownThreads)
struct SalvageTests {
    let folder: TemporaryDirectory
    var url: URL { folder.file("Archives.sqlite") }

    init() throws { folder = try TemporaryDirectory() }

    private func open(
        _ name: String = "plain",
        policy: DatabaseFile.ForeignFilePolicy = .refuse
    ) throws -> (DatabaseFile, Store<Data>) {
        let file = try DatabaseFile.open(at: url, ifNotADatabase: policy, clock: SampleStore.clock)
        let store = try file.store(
            named: name,
            codec: IdentityCodec(),
            memory: Capacity(1.megaByte),
            disk: Capacity(100.megaByte),
            caching: .values
        )
        return (file, store)
    }

    /// Entries of 400 bytes: about nine on a page.
    func fill(_ count: Int, groups: [String] = []) throws {
        let (file, store) = try open()
        var transaction = StoreTransaction()
        for number in 0..<count {
            try transaction.record(value(number), forKey: EntryKey("key \(number)"), in: store)
            guard !groups.isEmpty else { continue }
            let group = groups[number % groups.count]
            try transaction.group(in: EntryKey.groups([group]), of: store)
        }
        try transaction.commit()
        try file.close()
    }

    private func value(_ number: Int) -> Data {
        Data("\(number) ".utf8) + Data(repeating: UInt8(number & 0xFF), count: 400)
    }

    /// Pages of entries, in order.
    func leaves() throws -> [Int] {
        let bytes = try Data(contentsOf: url)
        return try (0..<bytes.count / 4096).filter { page in
            bytes[page * 4096] == 0x0D
                && bytes[page * 4096..<(page + 1) * 4096].range(of: Data("key ".utf8)) != nil
        }.sorted { try firstNumber($0) < firstNumber($1) }
    }

    private func firstNumber(_ page: Int) throws -> Int {
        let bytes = try Data(contentsOf: url)[page * 4096..<(page + 1) * 4096]
        // SQLite writes cells from the end of a page.
        guard let place = bytes.range(of: Data("key ".utf8), options: .backwards) else {
            return .max
        }
        return Int(
            String(decoding: bytes[place.upperBound...].prefix { 48...57 ~= $0 }, as: UTF8.self)
        )
            ?? .max
    }

    func destroy(pages: [Int], with byte: UInt8 = 0xEE) throws {
        var bytes = try Data(contentsOf: url)
        for page in pages {
            bytes.replaceSubrange(
                page * 4096..<(page + 1) * 4096,
                with: Data(repeating: byte, count: 4096)
            )
        }
        try bytes.write(to: url)
    }

    /// Opens the file; verification detects the damage at the latest.
    private func findDamage() throws {
        do {
            let (damaged, _) = try open()
            #expect(try !damaged.verify().isIntact)
            try damaged.close()
        } catch let error as VellumError {
            #expect(error.code == .damagedFile)
        }
    }

    private func foundAfterSalvage(_ count: Int) throws -> Int {
        try findDamage()
        let (file, store) = try open()
        var found = 0
        for number in 0..<count {
            guard let bytes = try store.value(forKey: EntryKey("key \(number)")) else { continue }
            #expect(bytes == value(number))
            found += 1
        }
        #expect(try file.verify().isIntact)
        #expect(try store.count() == found)
        return found
    }

    /// Each damaged page costs only the entries on it, even if intact pages are between damaged
    /// ones.
    @Test(arguments: [
        [3], [3, 40], [3, 4, 5, 90], [0, 20, 40, 60, 80, 100], [10, 12, 14, 16, 18],
    ])
    func entriesBetweenDamagedPagesAreSalvaged(_ damaged: [Int]) throws {
        try fill(1000)
        let leaves = try leaves()
        #expect(leaves.count > 105)
        try destroy(pages: damaged.map { leaves[$0] })
        #expect(try foundAfterSalvage(1000) >= 1000 - damaged.count * 11)
    }

    @Test func theRestOfATruncatedFileIsSalvaged() throws {
        try fill(1000)
        let bytes = try Data(contentsOf: url)
        try bytes.prefix(bytes.count / 2).write(to: url)
        let (file, store) = try open()
        let found = try store.count()
        #expect(found > 300)
        for number in 0..<1000 {
            let bytes = try store.value(forKey: EntryKey("key \(number)"))
            #expect(bytes == nil || bytes == value(number))
        }
        #expect(try file.verify().isIntact)
    }

    /// Every byte of the header that could prevent SQLite from reading the rest.
    @Test(arguments: [0, 5, 15, 16, 17, 18, 19, 20, 21, 47, 59, 61, 68, 71, 80])
    func aDamagedHeaderLosesNoEntry(_ offset: Int) throws {
        try fill(50)
        var bytes = try Data(contentsOf: url)
        bytes[offset] ^= 0x01
        try bytes.write(to: url)
        do {
            _ = try open()
        } catch let error as VellumError {
            // Detected only when an archive is opened; the next opening repairs it.
            #expect(error.code == .damagedFile)
        }
        let (file, store) = try open()
        for number in 0..<50 {
            #expect(
                try store.value(forKey: EntryKey("key \(number)")) == value(number),
                "byte \(offset)"
            )
        }
        try store.record(Data("new".utf8), forKey: "new")
        #expect(try file.verify().isIntact)
    }

    /// An unreadable table does not affect others.
    @Test(arguments: [
        "touches", "recency", "indexes", "entries_by_hash", "sqlite_autoindex_archives_1",
        "retention",
    ])
    func aMissingTableHidesNoEntry(_ table: String) throws {
        try fill(300)
        let root = try RawDatabase(url).int(
            "SELECT rootpage FROM sqlite_schema WHERE name = '\(table)'"
        )
        try destroy(pages: [root - 1])
        try findDamage()
        let (file, store) = try open()
        for number in 0..<300 {
            #expect(try store.value(forKey: EntryKey("key \(number)")) == value(number))
        }
        #expect(try file.verify().isIntact)
    }

    /// The database is missing, but a log that was never copied contains all of it.
    @Test func aLogWithoutItsDatabaseIsSalvaged() async throws {
        let (file, store) = try open()
        for number in 0..<20 { try store.record(value(number), forKey: EntryKey("key \(number)")) }
        let log = try Data(contentsOf: URL(fileURLWithPath: url.path + "-wal"))
        try file.close()
        try FileManager.default.removeItem(at: url)
        try log.write(to: URL(fileURLWithPath: url.path + "-wal"))
        let (_, again) = try open()
        for number in 0..<20 {
            #expect(try again.value(forKey: EntryKey("key \(number)")) == value(number))
        }
        var events = again.events.events().makeAsyncIterator()
        guard case .setAside(let aside, 20) = await events.next(isolation: #isolation) else {
            Issue.record("Nothing was reported.")
            return
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: aside.path + "-wal")).isEmpty == false)
    }

    /// P35: no file that was set aside is ever overwritten, even within one millisecond.
    @Test func everyFileThatWasSetAsideIsKept() throws {
        for number in 1...4 {
            try fill(20)
            try destroy(pages: [0])
            let (file, store) = try open(policy: .setAside)
            #expect(try store.count() == 0)
            try file.close()
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
            let databases = names.filter { name in
                name.contains(".damaged-") && !Damage.sideFiles.contains(where: name.hasSuffix)
            }
            #expect(databases.count { !$0.hasSuffix("-damaged") } == number)
        }
    }

    /// A failed opening leaves no open handle.
    @Test func failedOpeningsLeakNoDescriptor() throws {
        /// How many of this folder are open: other tests open files at the same time.
        func descriptors() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/dev/fd").compactMap { Int32($0) }
                .count { Self.path(of: $0).contains(folder.url.lastPathComponent) }
        }
        try Data(
            "no database, but long enough to be looked at as if it were one; and more of the same"
                .utf8
        ).write(to: url)
        #expect(throws: VellumError.self) { try open() }
        let before = try descriptors()
        for _ in 0..<LongRun.number(300, usually: 40) {
            #expect(throws: VellumError.self) { try open() }
        }
        // What was begun in the background may end later.
        try blockUntil("no more files are open than before") { try descriptors() <= before }
    }

    /// The path of an open file; empty if there is none.
    private static func path(of descriptor: Int32) -> String {
        var path = [UInt8](repeating: 0, count: Int(PATH_MAX) + 1)
        path.withUnsafeMutableBytes { bytes in
            guard let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else { return }
            #if os(Linux)
                _ = readlink("/proc/self/fd/\(descriptor)", start, Int(PATH_MAX))
            #else
                _ = fcntl(descriptor, F_GETPATH, start)
            #endif
        }
        return String(decoding: path.prefix { $0 != 0 }, as: UTF8.self)
    }

    /// If a damaged file cannot be moved, the caller gets an error, and the file is unchanged.
    @Test func aReadOnlyFolderKeepsTheDamagedFile() throws {
        guard geteuid() != 0 else { return }
        try fill(20)
        try destroy(pages: [0])
        let bytes = try Data(contentsOf: url)
        chmod(folder.url.path, 0o500)
        defer { chmod(folder.url.path, 0o700) }
        #expect(throws: VellumError.self) { try open(policy: .setAside) }
        #expect(try Data(contentsOf: url) == bytes)
    }

    /// The index on the names of archives points to another archive.
    @Test func archivesAreNotConfused() throws {
        for name in ["alpha", "beta", "gamma"] {
            let (file, store) = try open(name)
            try store.record(Data("of \(name)".utf8), forKey: "key")
            try file.close()
        }
        var bytes = try Data(contentsOf: url)
        for page in 0..<bytes.count / 4096 where bytes[page * 4096] == 0x0A {
            guard
                let place = bytes[page * 4096..<(page + 1) * 4096].range(
                    of: Data("gamma\u{3}".utf8)
                )
            else { continue }
            bytes[place.upperBound - 1] = 2
        }
        try bytes.write(to: url)
        do {
            let (file, beta) = try open("beta")
            #expect(try beta.value(forKey: "key") == Data("of beta".utf8))
            let error = #expect(throws: VellumError.self) {
                try file.store(
                    named: "gamma",
                    codec: IdentityCodec(),
                    memory: Capacity(1.megaByte),
                    disk: Capacity(1.megaByte),
                    caching: .values
                )
            }
            #expect(error?.code == .damagedFile)
            // Work in the background may hold it for a moment longer than this scope.
            #expect(throws: Never.self) { try file.close() }
        }
        for name in ["alpha", "beta", "gamma"] {
            let (file, store) = try open(name)
            #expect(try store.value(forKey: "key") == Data("of \(name)".utf8))
            let report = try file.verify()
            #expect(report.isIntact, "\(report)")
        }
    }

    /// Values without a checksum: a stamp, and the numbers of an archive and its index.
    @Test(arguments: [
        "UPDATE entries SET stamp = -5 WHERE id = (1 << 40) + 15",
        "UPDATE entries SET stamp = 9223372036854775807 WHERE id = (1 << 40) + 15",
        "UPDATE archives SET next = -1000", "UPDATE archives SET next = 9223372036854775807",
        "UPDATE archives SET next = 3",
        "UPDATE archives SET entries = -1", "UPDATE archives SET bytes = 9223372036854775807",
        "UPDATE archives SET low_water = -1",
        "UPDATE archives SET recency = -9223372036854775808", "UPDATE archives SET cleared = 15",
        "UPDATE archives SET low_water = 20, cleared = 15", "UPDATE archives SET cleared_check = 7",
        "UPDATE archives SET entries = 9223372036854775807, next = 1",
        "UPDATE archives SET bytes = 9223372036854775807, next = 1",
        "INSERT INTO recency VALUES (1, -4, 99), (1, 0, 3), (1, 9223372036854775807, 2)",
        "INSERT INTO touches VALUES ((1 << 40) + 4, -1), ((1 << 40) + 5, 9223372036854775807)",
        "INSERT INTO indexes VALUES (1, 'x', -3, -1, 5, 9, 9223372036854775807, -8)",
        "INSERT INTO indexes VALUES (1, 'x', 4000000000, 4000000000, 0, 0, 0, 0)",
        """
        INSERT INTO retention VALUES (1, -1, -9223372036854775808, 9223372036854775807, \
        9223372036854775807)
        """,
    ])
    func impossibleNumbersNeitherTrapNorHideEntries(_ sql: String) throws {
        try fill(20)
        try RawDatabase(url).execute(sql)
        for visit in 1...3 {
            let file = try DatabaseFile.open(at: url, clock: SampleStore.clock)
            do {
                let (_, store) = try open()
                _ = try store.keys()
                _ = try store.count()
                for number in 0..<20 {
                    #expect(try store.value(forKey: EntryKey("key \(number)")) == value(number))
                }
                _ = try file.verify()
                try store.record(value(visit), forKey: EntryKey("new \(visit)"))
                _ = try store.removeUnused(since: .distantPast)
                file.sweepEverything()
                try file.close()
            } catch let error as VellumError {
                #expect(error.code == .damagedFile && visit < 3, "\(String(reflecting: error))")
            }
            // Nothing in the background keeps the file open: the next visit opens it, and salvages
            // it if it is damaged.
            file.waitForMaintenance()
        }
        let (file, store) = try open()
        for number in 0..<20 {
            #expect(try store.value(forKey: EntryKey("key \(number)")) == value(number))
        }
        #expect(try store.value(forKey: "new 3") == value(3))
        #expect(try store.keys().count == store.count())
        #expect(try file.verify().isIntact)
    }

    /// An object larger than SQLite's maximum is rejected, and the old value is kept.
    @Test func anObjectLargerThanSQLiteAllowsIsTooLarge() throws {
        let file = try DatabaseFile.open(at: url, clock: SampleStore.clock)
        let store = try file.store(
            named: "large",
            codec: IdentityCodec(),
            memory: Capacity(1.megaByte),
            disk: Capacity(DataSize(bytes: 4_000_000_000)),
            caching: .bytes
        )
        try store.record(Data("small".utf8), forKey: "a")
        let error = #expect(throws: VellumError.self) {
            try store.record(Data(count: 1_000_000_001), forKey: "a")
        }
        #expect(error?.code == .tooLarge)
        #expect(try store.value(forKey: "a") == Data("small".utf8))
        try store.record(Data("other".utf8), forKey: "b")
        #expect(try file.verify().isIntact)
    }
}
