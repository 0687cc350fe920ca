import Foundation
import TestThreads
import Testing
import Vellum
import VellumTesting

/// Invoices of version 0 that stay as they are, as callers see them.
@Suite(.ownThreads)
struct WaitingMigrationTests {
    let temporary = TemporaryArchives()

    private func recordOld(_ count: Int) throws {
        let bills = try temporary.factory.store(for: Program0.Invoice.self, diskLimit: 100.megaByte)
        try bills.record(
            contentsOf: (0..<count).map {
                Program0.Invoice(number: "\($0)", customer: "client \($0 % 7)", total: $0)
            }
        )
        try temporary.factory.close()
    }

    private func new(_ number: Int) -> Program1.Invoice {
        Program1.Invoice(
            number: "\(number)",
            client: "client \(number % 7)",
            total: number,
            currency: "CHF"
        )
    }

    private func versions() throws -> [Int] { try temporary.factory.archives().map(\.version) }

    @Test func whatAProgramDoesWithOldObjectsIsAsWithCurrentOnes() async throws {
        try recordOld(100)
        temporary.factory.migrates = .onRead
        #expect(temporary.factory.migrates == .onRead)
        let invoices = try temporary.factory.store(for: Program1.Invoice.self)
        var model = Dictionary(uniqueKeysWithValues: (0..<100).map { ("\($0)", new($0)) })
        func check(_ step: String) throws {
            let threes = model.values.filter { $0.client == "client 3" }
            #expect(try invoices.count() == model.count, "\(step)")
            #expect(
                try invoices.count(where: #Predicate { $0.client == "client 3" }) == threes.count,
                "\(step)"
            )
            #expect(
                try invoices.sum(of: \.total, where: #Predicate { $0.client == "client 3" })
                    == threes.map(\.total).reduce(0, +),
                "\(step)"
            )
            #expect(try invoices.max(of: \.total) == model.values.map(\.total).max(), "\(step)")
            #expect(Set(try invoices.keys()) == Set(model.keys), "\(step)")
            for key in ["3", "42", "99"] {
                #expect(try invoices.access(archiveWithKey: key) == model[key], "\(step)")
            }
        }
        var answers = invoices.observe(
            where: #Predicate { $0.client == "client 3" },
            sortedBy: [SortDescriptor(\.total)]
        )
        .makeAsyncIterator()
        #expect(
            try await answers.next()
                == model.values.filter { $0.client == "client 3" }.sorted { $0.total < $1.total }
        )
        var counts = invoices.observe(archiveWithKey: "42").makeAsyncIterator()
        #expect(try await counts.next() == .some(model["42"]))
        try check("at first")

        try invoices.update(archiveWithKey: "42") { $0?.client = "client 3" }
        model["42"]?.client = "client 3"
        #expect(
            try await answers.next()
                == model.values.filter { $0.client == "client 3" }.sorted { $0.total < $1.total }
        )
        #expect(try await counts.next() == .some(model["42"]))
        try check("updated")
        try invoices.delete(archiveWithKey: "3")
        model["3"] = nil
        try check("deleted")
        try temporary.factory.transaction { transaction in
            var found = try transaction.access(archiveWithKey: "99", in: invoices)
            found?.total = 7
            if let found { try transaction.record(found, in: invoices) }
        }
        model["99"]?.total = 7
        try check("in a transaction")
        // What was not recorded again is as the older program has recorded it.
        #expect(try invoices.cborValue(forKey: "5")?["customer"] == "client 5")
        #expect(try invoices.cborValue(forKey: "42")?["client"] == "client 3")
        #expect(try !invoices.migrationProgress().isComplete)
        try invoices.deleteAll()
        model = [:]
        try check("emptied")
    }

    @Test(arguments: [MigrationTiming.onRead, .after(.seconds(60))])
    func noStepIsReportedBeforeThePassBegins(
        _ migrates: MigrationTiming
    ) async throws {
        try recordOld(10)
        temporary.factory.migrates = migrates
        let invoices = try temporary.factory.store(for: Program1.Invoice.self)
        let events = invoices.events
        #expect(try invoices.migrationProgress() == MigrationProgress(examined: 0, total: 10))
        await temporary.clock.advance(by: .seconds(59))
        #expect(try invoices.cborValue(forKey: "5")?["customer"] == "client 5")
        if migrates == .onRead {
            temporary.factory.migrates = .immediately
            _ = try temporary.factory.store(for: Program1.Invoice.self)
        }
        await temporary.clock.advance(by: .seconds(1))
        var examined: [Int] = []
        for await case .migrated(let progress) in events {
            examined.append(progress.examined)
            if progress.isComplete { break }
        }
        #expect(examined.last == 10)
        #expect(try invoices.cborValue(forKey: "5")?["client"] == "client 5")
    }

    @Test func anOlderProgramGoesOnReading() throws {
        try recordOld(10)
        temporary.factory.migrates = .onRead
        let invoices = try temporary.factory.store(for: Program1.Invoice.self)
        #expect(try invoices.accessAll().count == 10)
        try temporary.factory.close()
        let bills = try temporary.factory.store(for: Program0.Invoice.self)
        #expect(
            try bills.accessAll().map(\.customer).sorted()
                == (0..<10).map { "client \($0 % 7)" }.sorted()
        )
    }
}
