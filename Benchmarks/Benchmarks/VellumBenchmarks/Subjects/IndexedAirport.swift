import Foundation
import GRDB
import Vellum

/// An airport of the list, with indexes.
struct IndexedAirport: ArchiveCodable, QuerySubject {
    static let title = "airports"
    static let archiveName = "IndexedAirport"
    static var archiveIndexes: [ArchiveIndex<IndexedAirport>] {
        [.index(\.icao), .index(\.country, \.elevation), .index(\.elevation)]
    }

    var primaryKey: String { icao }

    let icao: String
    let iata: String
    let name: String
    let city: String
    let region: String
    let country: String
    let elevation: Double
    let latitude: Double
    let longitude: Double
    let timeZone: String

    static func make(_ index: Int) -> IndexedAirport {
        let airport = Airport.make(index)
        return IndexedAirport(
            icao: airport.icao,
            iata: airport.iata,
            name: airport.name,
            city: airport.city,
            region: airport.region,
            country: airport.country,
            elevation: airport.elevation,
            latitude: airport.latitude,
            longitude: airport.longitude,
            timeZone: airport.timeZone
        )
    }

    static func createTable(_ database: Database) throws {
        try Airport.createTable(database)
        for columns in [["country", "elevation"], ["elevation"]] {
            try database.create(
                index: "by_" + columns.joined(separator: "_"),
                on: databaseTableName,
                columns: columns
            )
        }
    }

    // MARK: Questions

    // The columns of Vellum's file are numbered as the indexes name them: c0 icao, c1 country, c2
    // elevation.

    static func questions(amongst count: Int) -> [Question<IndexedAirport>] {
        [one, hundred, range, top, composite, prefix, counting]
    }

    /// Countries that have about a hundred airports each.
    private static let countries: [String] = {
        let all = Dictionary(grouping: AirportList.shared, by: \.country)
        return all.filter { (50...200).contains($0.value.count) }.keys.sorted()
    }()

    private static func country(_ round: Int) -> String { countries[round % countries.count] }

    private static func icao(_ round: Int) -> String {
        Airport.make(round * 7_919 % AirportList.shared.count).icao
    }

    private static let one = Question<IndexedAirport>(
        work: .queryOne,
        operand: { Operand(text: icao($0)) },
        ask: { store, operand in
            let icao = operand.text
            return .values(try store.fetch(where: #Predicate { $0.icao == icao }))
        },
        sql: selectByHand("c.c0 = ?"),
        bind: { $0.bind(text: $1.text, 1) },
        peer: { .values(try IndexedAirport.filter(Column("icao") == $1.text).fetchAll($0)) }
    )

    private static let hundred = Question<IndexedAirport>(
        work: .queryHundred,
        operand: { Operand(text: country($0)) },
        ask: { store, operand in
            let country = operand.text
            return .values(try store.fetch(where: #Predicate { $0.country == country }))
        },
        sql: selectByHand("c.c1 = ?"),
        bind: { $0.bind(text: $1.text, 1) },
        peer: { .values(try IndexedAirport.filter(Column("country") == $1.text).fetchAll($0)) }
    )

    private static let range = Question<IndexedAirport>(
        work: .queryRange,
        operand: { Operand(real: Double($0 % 5000) + 0.5) },
        ask: { store, operand in
            let height = operand.real
            return .values(
                try store.fetch(
                    where: #Predicate { $0.elevation > height },
                    sortedBy: [SortDescriptor(\.elevation)],
                    limit: 10
                )
            )
        },
        sql: selectByHand("c.c2 > ? ORDER BY c.c2 LIMIT 10"),
        bind: { $0.bind(place(of: $1.real), 1) },
        peer: {
            .values(
                try IndexedAirport.filter(Column("elevation") > $1.real).order(Column("elevation"))
                    .limit(10).fetchAll($0)
            )
        }
    )

    private static let top = Question<IndexedAirport>(
        work: .queryTop,
        operand: { _ in Operand() },
        ask: { store, _ in
            .values(
                try store.fetch(sortedBy: [SortDescriptor(\.elevation, order: .reverse)], limit: 10)
            )
        },
        sql: selectByHand("1 ORDER BY c.c2 DESC LIMIT 10"),
        bind: { _, _ in },
        peer: { database, _ in
            .values(try IndexedAirport.order(Column("elevation").desc).limit(10).fetchAll(database))
        }
    )

    private static let composite = Question<IndexedAirport>(
        work: .queryComposite,
        operand: { Operand(text: country($0), real: 50) },
        ask: { store, operand in
            let (country, height) = (operand.text, operand.real)
            return .values(
                try store.fetch(
                    where: #Predicate { $0.country == country && $0.elevation > height },
                    sortedBy: [SortDescriptor(\.elevation)]
                )
            )
        },
        sql: selectByHand("c.c1 = ? AND c.c2 > ? ORDER BY c.c2"),
        bind: { statement, operand in
            statement.bind(text: operand.text, 1)
            statement.bind(place(of: operand.real), 2)
        },
        peer: { database, operand in
            let isFound = Column("country") == operand.text && Column("elevation") > operand.real
            return .values(
                try IndexedAirport.filter(isFound).order(Column("elevation")).fetchAll(database)
            )
        }
    )

    private static let prefix = Question<IndexedAirport>(
        work: .queryPrefix,
        operand: { Operand(text: String(icao($0).prefix(3))) },
        ask: { store, operand in
            let start = operand.text
            return .values(try store.fetch(where: #Predicate { $0.icao.starts(with: start) }))
        },
        sql: selectByHand("c.c0 >= ? AND c.c0 < ?"),
        bind: { statement, operand in
            statement.bind(text: operand.text, 1)
            statement.bind(text: operand.text + "\u{10FFFF}", 2)
        },
        peer: { database, operand in
            let isFound =
                Column("icao") >= operand.text && Column("icao") < operand.text + "\u{10FFFF}"
            return .values(try IndexedAirport.filter(isFound).fetchAll(database))
        }
    )

    private static let counting = Question<IndexedAirport>(
        work: .queryCount,
        operand: { Operand(real: Double(2000 + $0 % 1000)) },
        ask: { store, operand in
            let height = operand.real
            return .count(try store.count(where: #Predicate { $0.elevation > height }))
        },
        sql: "SELECT count(*) FROM columns_1 c WHERE c.c2 > ?",
        bind: { $0.bind(place(of: $1.real), 1) },
        peer: { .count(try IndexedAirport.filter(Column("elevation") > $1.real).fetchCount($0)) }
    )
}
