import Foundation
import GRDB
import Samples
import Vellum

/// One query in three languages: Vellum's, SQL by hand, GRDB's.
struct Question<Value: QuerySubject>: Sendable {
    var work: Work
    /// What is asked for in a round.
    var operand: @Sendable (_ round: Int) -> Operand
    var ask: @Sendable (ArchiveStore<Value>, Operand) throws -> Answer<Value>
    /// The same on the tables of Vellum's file: one column, the bytes of an object, or the count.
    var sql: String
    var bind: @Sendable (RawStatement, Operand) -> Void
    var peer: @Sendable (Database, Operand) throws -> Answer<Value>
}

/// What a query compares with.
struct Operand {
    var text = ""
    var number = 0
    var real = 0.0
}

/// What a query answers.
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

/// Something that queries find.
protocol QuerySubject: Subject, IndexedArchivable {
    static func questions(amongst count: Int) -> [Question<Self>]
}

/// The place of a number among all numbers, as Vellum's columns hold it (`Sources/Tiers/Query/IndexValue.swift`).
func place(of number: Double) -> Int64 {
    let bits = Int64(bitPattern: number.bitPattern)
    return bits < 0 ? bits ^ .max : bits
}
