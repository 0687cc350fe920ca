import Foundation
import GRDB
import Vellum

extension Resident: IndexedArchivable {
    static var archiveIndexes: [ArchiveIndex<Resident>] {
        [.index(\.points), .index(\.city, \.score), .index(\.name), .each(\.tags)]
    }
}

// The columns of Vellum's file are numbered as the indexes name them: c0 points, c1 city, c2 score,
// c3 name, e0 tags.

extension Resident: QuerySubject {
    static func questions(amongst count: Int) -> [Question<Resident>] {
        [
            one(count), hundred(count), range, top, composite(count), element(count), prefix(count),
            counting,
        ]
    }

    private static func one(_ count: Int) -> Question<Resident> {
        Question(
            work: .queryOne,
            operand: { Operand(text: name($0 * 7_919 % count)) },
            ask: { store, operand in
                let name = operand.text
                return .values(try store.fetch(where: #Predicate { $0.name == name }))
            },
            sql: selectByHand("c.c3 = ?"),
            bind: { $0.bind(text: $1.text, 1) },
            peer: { .values(try Resident.filter(Column("name") == $1.text).fetchAll($0)) }
        )
    }

    private static func hundred(_ count: Int) -> Question<Resident> {
        Question(
            work: .queryHundred,
            operand: { Operand(text: city($0 * 13, of: count)) },
            ask: { store, operand in
                let city = operand.text
                return .values(try store.fetch(where: #Predicate { $0.city == city }))
            },
            sql: selectByHand("c.c1 = ?"),
            bind: { $0.bind(text: $1.text, 1) },
            peer: { .values(try Resident.filter(Column("city") == $1.text).fetchAll($0)) }
        )
    }

    private static let range = Question<Resident>(
        work: .queryRange,
        operand: { Operand(number: Scatter.place($0) % 900_000) },
        ask: { store, operand in
            let points = operand.number
            return .values(
                try store.fetch(
                    where: #Predicate { $0.points > points },
                    sortedBy: [SortDescriptor(\.points)],
                    limit: 10
                )
            )
        },
        sql: selectByHand("c.c0 > ? ORDER BY c.c0 LIMIT 10"),
        bind: { $0.bind(Int64($1.number), 1) },
        peer: {
            .values(
                try Resident.filter(Column("points") > $1.number).order(Column("points")).limit(10)
                    .fetchAll($0)
            )
        }
    )

    static let top = Question<Resident>(
        work: .queryTop,
        operand: { _ in Operand() },
        ask: { store, _ in
            .values(
                try store.fetch(sortedBy: [SortDescriptor(\.points, order: .reverse)], limit: 10)
            )
        },
        sql: selectByHand("1 ORDER BY c.c0 DESC LIMIT 10"),
        bind: { _, _ in },
        peer: { database, _ in
            .values(try Resident.order(Column("points").desc).limit(10).fetchAll(database))
        }
    )

    private static func composite(_ count: Int) -> Question<Resident> {
        Question(
            work: .queryComposite,
            operand: { Operand(text: city($0 * 13, of: count), real: 5000) },
            ask: { store, operand in
                let (city, score) = (operand.text, operand.real)
                return .values(
                    try store.fetch(
                        where: #Predicate { $0.city == city && $0.score > score },
                        sortedBy: [SortDescriptor(\.score)]
                    )
                )
            },
            sql: selectByHand("c.c1 = ? AND c.c2 > ? ORDER BY c.c2"),
            bind: { statement, operand in
                statement.bind(text: operand.text, 1)
                statement.bind(place(of: operand.real), 2)
            },
            peer: { database, operand in
                let isFound = Column("city") == operand.text && Column("score") > operand.real
                return .values(
                    try Resident.filter(isFound).order(Column("score")).fetchAll(database)
                )
            }
        )
    }

    private static func element(_ count: Int) -> Question<Resident> {
        Question(
            work: .queryElement,
            operand: { Operand(text: tag($0 * 13, of: count)) },
            ask: { store, operand in
                let tag = operand.text
                return .values(try store.fetch(where: #Predicate { $0.tags.contains(tag) }))
            },
            sql:
                """
                SELECT e.bytes FROM elements_1_0 x JOIN entries e ON \
                e.id = x.id WHERE x.value = ?
                """,
            bind: { $0.bind(text: $1.text, 1) },
            peer: { database, operand in
                let sql =
                    """
                    SELECT records.* FROM tags JOIN records ON records.id = tags.record WHERE \
                    tags.value = ?
                    """
                return .values(
                    try Resident.fetchAll(
                        try database.cachedStatement(sql: sql),
                        arguments: [operand.text]
                    )
                )
            }
        )
    }

    /// A prefix of the name that matches about ten residents.
    private static func prefix(_ count: Int) -> Question<Resident> {
        let digits = String(count).count - 1
        return Question(
            work: .queryPrefix,
            operand: {
                Operand(
                    text: String(name($0 * 7_919 % count).prefix("Ann Example ".count + digits))
                )
            },
            ask: { store, operand in
                let start = operand.text
                return .values(try store.fetch(where: #Predicate { $0.name.starts(with: start) }))
            },
            sql: selectByHand("c.c3 >= ? AND c.c3 < ?"),
            bind: { statement, operand in
                statement.bind(text: operand.text, 1)
                statement.bind(text: operand.text + "\u{10FFFF}", 2)
            },
            peer: { database, operand in
                let isFound =
                    Column("name") >= operand.text && Column("name") < operand.text + "\u{10FFFF}"
                return .values(try Resident.filter(isFound).fetchAll(database))
            }
        )
    }

    /// A hundredth of all.
    private static let counting = Question<Resident>(
        work: .queryCount,
        operand: { Operand(number: Scatter.place($0) % 900_000) },
        ask: { store, operand in
            let (low, high) = (operand.number, operand.number + 10_000)
            return .count(
                try store.count(where: #Predicate { $0.points >= low && $0.points < high })
            )
        },
        sql: "SELECT count(*) FROM columns_1 c WHERE c.c0 >= ? AND c.c0 < ?",
        bind: { statement, operand in
            statement.bind(Int64(operand.number), 1)
            statement.bind(Int64(operand.number + 10_000), 2)
        },
        peer: { database, operand in
            let isFound =
                Column("points") >= operand.number && Column("points") < operand.number + 10_000
            return .count(try Resident.filter(isFound).fetchCount(database))
        }
    )
}
