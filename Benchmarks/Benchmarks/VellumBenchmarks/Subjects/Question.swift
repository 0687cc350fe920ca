import Foundation
import GRDB
import Samples
import Vellum

/// One query in three languages: Vellum's, SQL by hand, GRDB's.
struct Question<Value: QuerySubject>: Sendable {
    var work: Work
    /// The query of a round.
    var operand: @Sendable (_ round: Int) -> Operand
    var ask: @Sendable (ArchiveStore<Value>, Operand) throws -> Answer<Value>
    /// The same on the tables of Vellum's file: one column, the bytes of an object, or the count.
    var sql: String
    var bind: @Sendable (RawStatement, Operand) -> Void
    var peer: @Sendable (Database, Operand) throws -> Answer<Value>
}

/// The operand of a query.
struct Operand {
    var text = ""
    var number = 0
    var real = 0.0
}

/// The result of a query.
enum Answer<Value> {
    case values([Value])
    case count(Int)

    var count: Int {
        switch self {
        case .values(let values): values.count
        case .count(let count): count
        }
    }
}

/// A type with queries.
protocol QuerySubject: Subject, IndexedArchivable {
    static func questions(amongst count: Int) -> [Question<Self>]
}

/// The rank of a number among all numbers, as in Vellum's columns
/// (`Sources/VellumCore/Indexing/IndexValue.swift`).
func place(of number: Double) -> Int64 {
    let bits = Int64(bitPattern: number.bitPattern)
    return bits < 0 ? bits ^ .max : bits
}
