import Foundation
import GRDB
import Vellum

/// An airport of the list, repeated with other codes if more are needed.
struct Airport: ArchiveCodable, Subject, Equatable {
    static let title = "airports"
    static let archiveName = "Airport"

    var primaryKey: String { icao }

    var icao: String
    let iata: String
    let name: String
    let city: String
    let region: String
    let country: String
    let elevation: Double
    let latitude: Double
    let longitude: Double
    let timeZone: String

    static func make(_ index: Int) -> Airport {
        let list = AirportList.shared
        // The list is sorted; a stride through it is not.
        var airport = list[index * 12_289 % list.count]
        if index >= list.count { airport.icao += "-\(index / list.count)" }
        return airport
    }

    static func createTable(_ database: Database) throws {
        try database.create(table: databaseTableName) { table in
            table.primaryKey("icao", .text)
            for column in ["iata", "name", "city", "region", "country", "timeZone"] {
                table.column(column, .text).notNull()
            }
            for column in ["elevation", "latitude", "longitude"] {
                table.column(column, .double).notNull()
            }
        }
    }
}

/// The list in `Examples/Airports`: icao, iata, name, city, subd, country, elevation, lat, lon, tz,
/// lid.
enum AirportList {
    static let shared: [Airport] = {
        let path = URL(fileURLWithPath: #filePath).pathComponents.dropLast(5).dropFirst().joined(
            separator: "/"
        )
        let file = "/\(path)/Examples/Airports/Data/airports.csv"
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
            fatalError("There is no \(file).")
        }
        return text.split(separator: "\n").dropFirst().compactMap { airport(fields(of: $0)) }
    }()

    private static func airport(_ row: [String]) -> Airport? {
        guard row.count >= 10, let elevation = Double(row[6]), let latitude = Double(row[7]),
            let longitude = Double(row[8])
        else {
            return nil
        }
        return Airport(
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

    /// Returns the fields of a line. Commas may be quoted.
    private static func fields(of line: Substring) -> [String] {
        var fields = [""]
        var isQuoted = false
        for character in line {
            switch character {
            case "\"": isQuoted.toggle()
            case "," where !isQuoted: fields.append("")
            case "\r": break
            default: fields[fields.count - 1].append(character)
            }
        }
        return fields
    }
}
