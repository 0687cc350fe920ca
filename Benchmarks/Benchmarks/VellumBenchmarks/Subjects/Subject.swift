import Foundation
import GRDB
import Vellum

/// A type that every side can record, with objects and keys derived from a number.
protocol Subject: Archivable, Sendable, FetchableRecord, PersistableRecord {
    static var title: String { get }

    /// Returns the object of an index, each with its own key. Keys are in an irregular order.
    static func make(_ index: Int) -> Self

    /// The same, for types whose objects depend on their number.
    static func make(_ index: Int, of count: Int) -> Self

    /// Whether Vellum writes it to a file of its own, and syncs that: from 1 MiB on.
    static var isLarge: Bool { get }

    /// Creates the table for GRDB.
    static func createTable(_ database: Database) throws
}

extension Subject {
    static var databaseTableName: String { "records" }

    static func make(_ index: Int, of count: Int) -> Self { make(index) }

    static var isLarge: Bool { false }

    static func key(_ index: Int) -> String { make(index).primaryKey }

    /// Returns the object from the bytes of ``Archivable/archive()``, decoded as Vellum does.
    static func decode(_ bytes: Data) throws -> Self {
        guard let object = try deArchive(fromData: bytes) as? Self else {
            throw CocoaError(.coderInvalidValue)
        }
        return object
    }
}

/// Unique numbers in an irregular order.
enum Scatter {
    /// Returns the position of `index` in a permutation of forty bits.
    static func place(_ index: Int) -> Int { index &* 0x9E_3779_B1 & 0xFF_FFFF_FFFF }

    /// The first number of the keys of this process, which no other process has used.
    static func fresh() -> Int {
        2_000_000 + Int(Date().timeIntervalSince1970) % 1_000_000 * 100_000
    }
}
