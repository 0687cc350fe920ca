import Foundation
import TestThreads
import Testing
import Vellum

@Suite(.ownThreads)
struct MigrationTests {
    let temporary = TemporaryArchives()

    /// Records invoices as the program without a version does, and closes the file.
    private func recordOld(_ count: Int, total: (Int) -> Int = { $0 + 1 }) throws {
        let bills = try temporary.factory.store(for: Program0.Invoice.self, diskLimit: 100.megaByte)
        try bills.record(
            contentsOf: (0..<count).map {
                Program0.Invoice(number: "\($0)", customer: "client \($0 % 7)", total: total($0))
            }
        )
        try temporary.factory.close()
    }

    private func new(_ number: Int, total: Int? = nil) -> Program1.Invoice {
        Program1.Invoice(
            number: "\(number)",
            client: "client \(number % 7)",
            total: total ?? number + 1,
            currency: "CHF"
        )
    }

    @Test func anOldObjectIsMigratedWhenItIsRead() throws {
        try recordOld(500)
        let invoices = try temporary.factory.store(for: Program1.Invoice.self)
        for number in [499, 3, 250] {
            #expect(try invoices.access(archiveWithKey: "\(number)") == new(number))
        }
        // Now from memory.
        #expect(try invoices.access(archiveWithKey: "3") == new(3))
        #expect(try Set(invoices.accessAll().map(\.number)).count == 500)
    }

    @Test func queriesAnswerAsIfEveryObjectHadBeenMigrated() throws {
        let count = LongRun.number(2000, usually: 1200)
        try recordOld(count)
        let invoices = try temporary.factory.store(for: Program1.Invoice.self)
        for _ in 0..<3 {
            #expect(
                try invoices.fetch(
                    where: #Predicate { $0.client == "client 3" },
                    sortedBy: [SortDescriptor(\.total)]
                )
                    == (0..<count).filter { $0 % 7 == 3 }.map { new($0) }
            )
            let some = try invoices.count(
                where: #Predicate { $0.currency == "CHF" && $0.total > 1000 }
            )
            #expect(some == count - 1000)
            #expect(try invoices.exists(where: #Predicate { $0.client == "client 6" }))
        }
    }

    @Test func everyObjectIsMigratedOnceInTheBackground() async throws {
        let count = LongRun.number(3000, usually: 1200)
        try recordOld(count)
        let invoices = try temporary.factory.store(for: Program1.Invoice.self)
        try await invoices.waitForMigration()
        let whole = MigrationProgress(examined: count, total: count)
        #expect(try invoices.migrationProgress() == whole)
        #expect(try temporary.factory.archives().map(\.version) == [1])
        #expect(try invoices.cborValue(forKey: "77")?["client"] == "client 0")
        try temporary.factory.close()
        // The next opening has nothing to do.
        let again = try temporary.factory.store(for: Program1.Invoice.self)
        #expect(try again.migrationProgress().isComplete)
        #expect(
            try again.explain(where: #Predicate { $0.client == "client 3" }).unindexedObjects == 0
        )
    }

    /// Also while the objects are migrated in the background.
    @Test func observersSeeCurrentObjectsOnly() async throws {
        let count = LongRun.number(3000, usually: 1200)
        try recordOld(count)
        let invoices = try temporary.factory.store(for: Program1.Invoice.self)
        var answers = invoices.observe(
            where: #Predicate { $0.client == "client 3" },
            sortedBy: [SortDescriptor(\.total)]
        )
        .makeAsyncIterator()
        let expected = (0..<count).filter { $0 % 7 == 3 }.map { new($0) }
        #expect(try await answers.next() == expected)
        try await invoices.waitForMigration()
        try invoices.delete(archiveWithKey: "3")
        var last = try await answers.next()
        while last?.count == expected.count { last = try await answers.next() }
        #expect(last == Array(expected.dropFirst()))
    }

    @Test func twoVersionsAreMigratedAtOnce() async throws {
        try recordOld(40)
        let first = try temporary.factory.store(for: Program1.Invoice.self)
        try await first.waitForMigration()
        try temporary.factory.close()
        let bills = try temporary.factory.store(for: Program0.Invoice.self)
        try bills.record(Program0.Invoice(number: "40", customer: "late", total: 5))
        try temporary.factory.close()

        let invoices = try temporary.factory.store(for: Program2.Invoice.self)
        try await invoices.waitForMigration()
        #expect(try invoices.count() == 41)
        #expect(try invoices.access(archiveWithKey: "late 40")?.cents == 500)
        #expect(
            try invoices.fetch(
                where: #Predicate { $0.cents > 3500 },
                sortedBy: [SortDescriptor(\.cents)]
            ).map(\.cents)
                == [3600, 3700, 3800, 3900, 4000]
        )
    }

    @Test func datesAgesAndTheEvictionOrderAreKept() async throws {
        let bills = try temporary.factory.store(for: Program0.Invoice.self)
        for number in 0..<20 {
            let bill = Program0.Invoice(number: "\(number)", customer: "c", total: 1)
            try bills.record(bill, expiration: number == 7 ? .after(.seconds(1000)) : nil)
            temporary.clock.advance(bySeconds: 1)
        }
        _ = try bills.access(archiveWithKey: "4")
        let (keys, before) = (try bills.keys(), try #require(try bills.metadata(forKey: "7")))
        try temporary.factory.close()

        let invoices = try temporary.factory.store(for: Program1.Invoice.self)
        try await invoices.waitForMigration()
        #expect(try invoices.keys() == keys)
        let after = try #require(try invoices.metadata(forKey: "7"))
        #expect(
            (after.written, after.lastUsed, after.expires) == (
                before.written, before.lastUsed, before.expires
            )
        )
        temporary.clock.advance(bySeconds: 2000)
        #expect(try invoices.access(archiveWithKey: "7") == nil)
    }

    @Test func anObjectWithAnotherKeyMovesAndOneThatIsRemovedIsGone() async throws {
        try recordOld(30) { $0 % 10 == 0 ? 0 : $0 }
        let invoices = try temporary.factory.store(for: Program2.Invoice.self)
        try await invoices.waitForMigration()
        #expect(try invoices.count() == 27)
        #expect(try invoices.access(archiveWithKey: "8") == nil)
        #expect(try invoices.access(archiveWithKey: "client 1 8")?.cents == 800)
        #expect(try invoices.contains(archiveWithKey: "10") == false)
        // 3 were dropped, and 27 left their old keys.
        #expect(try invoices.statistics().removals[.migrated] == 30)
    }

    @Test func ofTwoObjectsWithOneKeyTheLaterStays() async throws {
        try recordOld(6)
        // Written later, but not by much: before the pass could begin, another program of the new
        // version recorded two of them.
        let newer = try temporary.anotherFactory().store(for: Program2.Invoice.self)
        try newer.record(Program2.Invoice(number: "2", client: "client 2", cents: 1))
        try await newer.waitForMigration()
        #expect(try newer.access(archiveWithKey: "client 2 2")?.cents == 1)
        #expect(try newer.fetch(where: #Predicate { $0.number == "2" }).map(\.cents) == [1])
        #expect(try newer.count() == 6)
    }

    @Test func anObjectWhoseMigrationFailsIsKeptAndListed() async throws {
        try recordOld(100) { $0 == 50 ? -1 : $0 + 1 }
        let invoices = try temporary.factory.store(for: Program2.Invoice.self)
        try await invoices.waitForMigration()
        #expect(try invoices.migrationProgress().isComplete)
        #expect(try invoices.undecodableKeys() == ["50"])
        #expect(try invoices.fetch(undecodable: .skip).count == 99)
        #expect(try invoices.cborValue(forKey: "50")?["total"] == -1)
        let error = #expect(throws: VellumError.self) { try invoices.access(archiveWithKey: "50") }
        #expect(error?.code == .notDecodable)
        #expect(error?.message.contains("version 0") == true)
        #expect(try invoices.deleteUndecodable() == 1)
        #expect(try invoices.fetch().count == 99)
    }

    @Test func anObjectOfANewerVersionIsAnErrorAndStays() async throws {
        let newer = try temporary.factory.store(for: Program2.Invoice.self)
        try newer.record(Program2.Invoice(number: "1", client: "a", cents: 7))
        try temporary.factory.close()

        let older = try temporary.factory.store(for: Program1.Invoice.self)
        func code(_ body: () throws -> Void) -> VellumError.Code? {
            do { try body() } catch { return (error as? VellumError)?.code }
            return nil
        }
        #expect(code { _ = try older.access(archiveWithKey: "a 1") } == .newerVersion)
        #expect(code { _ = try older.fetch() } == .newerVersion)
        #expect(try older.fetch(undecodable: .skip) == [])
        // It is whole: it is not among those that may be deleted, and no loader replaces it.
        #expect(try older.undecodableKeys() == [])
        #expect(try older.deleteUndecodable() == 0)
        await #expect(throws: VellumError.self) {
            try await older.value(
                forKey: "a 1",
                orLoad: { Program1.Invoice(number: "x", client: "x", total: 0, currency: "x") }
            )
        }
        try older.flush()
        try temporary.factory.close()
        #expect(
            try temporary.factory.store(for: Program2.Invoice.self).access(archiveWithKey: "a 1")?
                .cents == 7
        )
    }

    @Test func anOlderProgramMayDeleteAndRecordObjectsOfANewerVersion() async throws {
        let newer = try temporary.factory.store(for: Program2.Invoice.self)
        try newer.record(Program2.Invoice(number: "1", client: "a", cents: 7))
        try newer.record(Program2.Invoice(number: "2", client: "a", cents: 7))
        try temporary.factory.close()
        let older = try temporary.factory.store(for: Program1.Invoice.self)
        try older.delete(archiveWithKey: "a 1")
        try older.record(new(5))
        try temporary.factory.close()
        let again = try temporary.factory.store(for: Program2.Invoice.self)
        try await again.waitForMigration()
        #expect(try again.keys().sorted() == ["a 2", "client 5 5"])
    }

    @Test func aMigrationThatMakesObjectsLargerKeepsTheLimit() async throws {
        try recordOld(2000)
        let before = try temporary.factory.store(for: Program0.Invoice.self).statistics().disk
        try temporary.factory.close()
        let limit = DataSize(bytes: before.bytes)
        let invoices = try temporary.factory.store(for: Program1.Invoice.self, diskLimit: limit)
        try await invoices.waitForMigration()
        let after = try invoices.statistics().disk
        #expect(after.bytes <= limit.bytes)
        #expect(after.entries < 2000)
        #expect(try invoices.fetch().count == after.entries)
        #expect(try invoices.access(archiveWithKey: "1999") == new(1999))
    }

    @Test func aLargeObjectIsMigratedAndLosesItsFile() async throws {
        let size = LongRun.number(3 << 20, usually: 5 << 18)
        let bills = try temporary.factory.store(for: Program0.Invoice.self, diskLimit: 100.megaByte)
        let customer = String(repeating: "x", count: size)
        try bills.record(Program0.Invoice(number: "1", customer: customer, total: 2))
        try temporary.factory.close()
        let invoices = try temporary.factory.store(for: Program1.Invoice.self)
        try await invoices.waitForMigration()
        #expect(try invoices.access(archiveWithKey: "1")?.client.utf8.count == size)
        try temporary.factory.close()
        let again = try temporary.factory.store(for: Program1.Invoice.self)
        #expect(try again.access(archiveWithKey: "1")?.client.utf8.count == size)
    }
}
