import Foundation
import GRDB
import Vellum

/// Something that every side can record: made from a number, under a key made from the same number.
protocol Subject: Archivable, Sendable, FetchableRecord, PersistableRecord {
    static var title: String { get }

    /// The `index`-th of endlessly many, each with a key of its own. Keys come in no order.
    static func make(_ index: Int) -> Self

    /// The same where it matters how many there are.
    static func make(_ index: Int, of count: Int) -> Self

    /// Makes the table for GRDB.
    static func createTable(_ database: Database) throws
}

extension Subject {
    static var databaseTableName: String { "records" }

    static func make(_ index: Int, of count: Int) -> Self { make(index) }

    static func key(_ index: Int) -> String { make(index).primaryKey }

    /// The object from bytes that ``Archivable/archive()`` made, by the same way that Vellum takes.
    static func decode(_ bytes: Data) throws -> Self {
        guard let object = try deArchive(fromData: bytes) as? Self else { throw CocoaError(.coderInvalidValue) }
        return object
    }
}

/// Numbers without an order that anyone could profit from, each different.
enum Scatter {
    /// The place of `index` when forty bits are shuffled.
    static func place(_ index: Int) -> Int { index &* 0x9E_3779_B1 & 0xFF_FFFF_FFFF }

    /// A number from which the keys of this process are counted, that no other process has used.
    static func fresh() -> Int { 2_000_000 + Int(Date().timeIntervalSince1970) % 1_000_000 * 100_000 }
}
