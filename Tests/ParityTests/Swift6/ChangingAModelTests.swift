import Foundation
import TestThreads
import Testing
import Vellum

// The types of the guide "Changing a model".

nonisolated struct Ticket: ArchiveCodable, VersionedArchive, Equatable {
    var primaryKey: String { number }
    var number: String
    var currency: String  // new

    static var archiveVersion: Int { 1 }

    static func migrate(_ old: StoredObject) throws -> Migrated<Ticket> {
        .object(try old.decode(Self.self, defaults: ["currency": "CHF"]))
    }
}

nonisolated struct Invoice: ArchiveCodable, VersionedArchive, Equatable {
    var primaryKey: String { number }
    var number: String
    var client: String  // was "customer"

    static var archiveVersion: Int { 1 }

    static func migrate(_ old: StoredObject) throws -> Migrated<Invoice> {
        var value = try old.value()
        value["client"] = value.removeValue(forKey: "customer")
        return .object(try value.decode(Invoice.self))
    }
}

nonisolated struct Shipment: ArchiveCodable, VersionedArchive, Equatable {
    var primaryKey: String { number }
    var number: String  // was an Int
    var weight: Double

    static var archiveVersion: Int { 1 }

    static func migrate(
        _ old: StoredObject
    ) throws -> Migrated<Shipment> {
        var value = try old.value()
        if case .integer(let number)? = value["number"] {
            value["number"] = .text("P\(number)")
        }
        return .object(try value.decode(Shipment.self))
    }
}

nonisolated struct Customer: ArchiveCodable, VersionedArchive, Equatable {
    var primaryKey: String { name }
    var name: String

    static var formerArchiveNames: [String] { ["Shop.Client"] }
}

nonisolated struct OrderOne: Codable {
    var number: String
    var amount: Double
}

nonisolated struct Order: ArchiveCodable, VersionedArchive, Equatable {
    var primaryKey: String { number }
    var number: String
    var cents: Int

    static var archiveVersion: Int { 2 }

    static func migrate(_ old: StoredObject) throws -> Migrated<Order> {
        if old.version == 0 {
            var value = try old.value()
            value["amount"] = value.removeValue(forKey: "price")
            return upgraded(try value.decode(OrderOne.self))
        }
        return upgraded(try old.decode(OrderOne.self))
    }

    /// An order without an amount is no longer needed.
    private static func upgraded(_ old: OrderOne) -> Migrated<Order> {
        guard old.amount != 0 else { return .remove }
        let cents = Int((old.amount * 100).rounded())
        return .object(Order(number: old.number, cents: cents))
    }
}

/// A class that writes its own bytes.
nonisolated final class Note: Archivable, VersionedArchive {
    let title: String

    init(_ title: String) { self.title = title }

    var primaryKey: String { title }
    func archive() throws -> Data { Data(("2" + title).utf8) }

    static func deArchive(fromData data: Data) throws -> any Archivable {
        guard data.first == UInt8(ascii: "2") else { throw CocoaError(.coderReadCorrupt) }
        return Note(String(decoding: data.dropFirst(), as: UTF8.self))
    }

    static var archiveVersion: Int { 2 }
    static var archiveName: String { "Notes" }

    static func migrate(_ old: StoredObject) throws -> Migrated<Note> {
        .object(Note(String(decoding: old.data, as: UTF8.self)))
    }
}

// The same types as the programs before knew them.

private nonisolated struct OldTicket: ArchiveCodable {
    static var archiveName: String { Ticket.archiveName }
    var primaryKey: String { number }
    var number: String
}

private nonisolated struct OldInvoice: ArchiveCodable {
    static var archiveName: String { Invoice.archiveName }
    var primaryKey: String { number }
    var number: String
    var customer: String
}

private nonisolated struct OldShipment: ArchiveCodable {
    static var archiveName: String { Shipment.archiveName }
    var primaryKey: String { "\(number)" }
    var number: Int
    var weight: Int
}

private nonisolated struct Client: ArchiveCodable {
    static var archiveName: String { "Shop.Client" }
    var primaryKey: String { name }
    var name: String
}

private nonisolated struct OldOrder: ArchiveCodable {
    static var archiveName: String { Order.archiveName }
    var primaryKey: String { number }
    var number: String
    var price: Double
}

private nonisolated struct OldNote: Archivable {
    static var archiveName: String { "Notes" }
    var primaryKey: String
    func archive() throws -> Data { Data(primaryKey.utf8) }
    static func deArchive(fromData data: Data) throws -> any Archivable {
        OldNote(primaryKey: String(decoding: data, as: UTF8.self))
    }
}

/// The cases of the guide "Changing a model", in every mode of a client.
@Suite(.ownThreads)
struct ChangingAModelTests {
    private let temporary = TemporaryArchives()

    private func reopened<Old: Archivable, New: Archivable>(
        _ old: [Old],
        as type: New.Type
    ) throws -> ArchiveStore<New> {
        try temporary.factory.store(for: Old.self).record(contentsOf: old)
        try temporary.factory.close()
        return try temporary.factory.store(for: type)
    }

    @Test func aPropertyThatOldObjectsLackHasAValue() throws {
        let tickets = try reopened([OldTicket(number: "1")], as: Ticket.self)
        #expect(try tickets.access(archiveWithKey: "1") == Ticket(number: "1", currency: "CHF"))
    }

    @Test func aMigrationIsTestedWithoutAStore() throws {
        let old = try StoredObject(
            version: 0,
            key: "1",
            value: ["number": "1", "customer": "Ann"]
        )
        guard case .object(let new) = try Invoice.migrate(old) else { return }
        #expect(new == Invoice(number: "1", client: "Ann"))
    }

    @Test func aRenamedPropertyKeepsItsValue() throws {
        let invoices = try reopened([OldInvoice(number: "1", customer: "Ann")], as: Invoice.self)
        #expect(
            try invoices.fetch(where: #Predicate { $0.client == "Ann" }) == [
                Invoice(number: "1", client: "Ann")
            ]
        )
        let readable = try invoices.fetch(
            sortedBy: [SortDescriptor(\.client)],
            undecodable: .skip
        )
        for key in try invoices.undecodableKeys() {
            let customer = try invoices.cborValue(forKey: key)?["customer"]
            print(customer ?? "no customer")
        }
        #expect(readable.count == 1)
    }

    @Test func anObjectStaysWhileOldProgramsRun() throws {
        let archives = temporary.factory
        try archives.store(for: OldInvoice.self).record(OldInvoice(number: "1", customer: "Ann"))
        try archives.close()
        archives.migrates = .onRead  // before an archive is opened
        let invoices = try archives.store(for: Invoice.self)
        #expect(try invoices.access(archiveWithKey: "1") == Invoice(number: "1", client: "Ann"))
        #expect(try invoices.cborValue(forKey: "1")?["customer"] == "Ann")
    }

    @Test func aPropertyOfAnotherTypeIsConverted() async throws {
        let shipments = try reopened([OldShipment(number: 7, weight: 3)], as: Shipment.self)
        let events = shipments.events
        if try !shipments.migrationProgress().isComplete {
            for await case .migrated(let progress) in events where progress.isComplete { break }
        }
        #expect(try shipments.access(archiveWithKey: "P7") == Shipment(number: "P7", weight: 3))
    }

    @Test func aRenamedTypeFindsItsArchive() throws {
        let customers = try reopened([Client(name: "Ann")], as: Customer.self)
        #expect(try customers.fetch() == [Customer(name: "Ann")])
    }

    @Test func severalVersionsAreMigratedAtOnce() throws {
        let orders = try reopened(
            [OldOrder(number: "1", price: 0.35), OldOrder(number: "2", price: 0)],
            as: Order.self
        )
        #expect(try orders.fetch() == [Order(number: "1", cents: 35)])
    }

    @Test func aFinalClassWithItsOwnBytesIsMigrated() throws {
        let notes = try reopened([OldNote(primaryKey: "a")], as: Note.self)
        #expect(try notes.access(archiveWithKey: "a")?.title == "a")
        try notes.record(Note("b"))
        #expect(try notes.accessAll().map(\.title).sorted() == ["a", "b"])
    }
}
