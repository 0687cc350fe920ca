import Vellum

/// One airport of the list.
struct Airport: ArchiveCodable, Equatable {
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
}

extension Airport: IndexedArchivable {
    static var archiveIndexes: [ArchiveIndex<Airport>] {
        [.index(\.country, \.elevation), .index(\.name), .index(\.timeZone)]
    }
}

/// An airport in an archive without indexes, for comparison.
struct PlainAirport: ArchiveCodable {
    static var archiveName: String { "Airports without indexes" }

    var primaryKey: String { airport.icao }
    let airport: Airport
}

extension Airport {
    /// The airport of a `PlainAirport` is not recorded separately.
    static var archivePropertyBehavior: ArchivePropertyBehavior { .ignore }

    /// Creates an airport from a row of the list: icao, iata, name, city, subd, country, elevation,
    /// lat, lon, tz, lid.
    init?(row: [String]) {
        guard row.count >= 10, let elevation = Double(row[6]), let latitude = Double(row[7]),
            let longitude = Double(row[8])
        else {
            return nil
        }
        self.init(
            icao: row[0],
            iata: row[1],
            name: row[2],
            city: row[3],
            region: row[4],
            country: row[5],
            elevation: elevation,
            latitude: latitude,
            longitude: longitude,
            timeZone: row[9]
        )
    }
}
