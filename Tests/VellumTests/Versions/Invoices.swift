import Foundation
import Vellum

/// One type as three programs know it: without a version, with one, and with the next.
enum Program0 {
    struct Invoice: ArchiveCodable, IndexedArchivable {
        static var archiveName: String { "Billing.Bill" }
        var primaryKey: String { number }
        var number: String
        var customer: String
        var total: Int
        static var archiveIndexes: [ArchiveIndex<Invoice>] { [.index(\.customer)] }
    }
}

/// The customer is called a client, and there is a currency.
enum Program1 {
    struct Invoice: ArchiveCodable, VersionedArchive, IndexedArchivable, Equatable {
        static var archiveName: String { "Billing.Invoice" }
        static var formerArchiveNames: [String] { ["Billing.Bill"] }
        static var archiveVersion: Int { 1 }
        var primaryKey: String { number }
        var number: String
        var client: String
        var total: Int
        var currency: String
        static var archiveIndexes: [ArchiveIndex<Invoice>] { [.index(\.client)] }

        static func migrate(_ old: StoredObject) throws -> Migrated<Invoice> {
            var value = try old.value()
            value["client"] = value.removeValue(forKey: "customer")
            value["currency"] = "CHF"
            return .object(try value.decode(Invoice.self))
        }
    }
}

/// Amounts are in cents, an invoice without a total is gone, and the key begins with the client's
/// name.
enum Program2 {
    struct Invoice: ArchiveCodable, VersionedArchive, IndexedArchivable, Equatable {
        static var archiveName: String { "Billing.Invoice" }
        static var formerArchiveNames: [String] { ["Bill"] }
        static var archiveVersion: Int { 2 }
        var primaryKey: String { "\(client) \(number)" }
        var number: String
        var client: String
        var cents: Int
        static var archiveIndexes: [ArchiveIndex<Invoice>] { [.index(\.client), .index(\.cents)] }

        init(number: String, client: String, cents: Int) {
            (self.number, self.client, self.cents) = (number, client, cents)
        }

        init(_ old: Program1.Invoice) {
            self.init(number: old.number, client: old.client, cents: old.total * 100)
        }

        static func migrate(_ old: StoredObject) throws -> Migrated<Invoice> {
            let before: Program1.Invoice
            if old.version == 0 {
                guard case .object(let object) = try Program1.Invoice.migrate(old) else {
                    return .remove
                }
                before = object
            } else {
                before = try old.decode(Program1.Invoice.self)
            }
            guard before.total >= 0 else { throw CocoaError(.coderInvalidValue) }
            return before.total == 0 ? .remove : .object(Invoice(before))
        }
    }
}

extension ArchiveStore {
    /// Waits until every object was migrated.
    func waitForMigration() async throws {
        let events = events
        guard try !migrationProgress().isComplete else { return }
        for await case .migrated(let progress) in events where progress.isComplete { return }
    }
}
