import Foundation
import MiniCache
import Vellum

// Makes files for check.sh, and changes them.
//
//     Sample make FOLDER        archives, with names of a stranger among them, and a cache
//     Sample touch FOLDER KEY   records one airport; removes it if it is there
//     Sample many FOLDER N      an archive of N entries of 100 bytes

/// An object with an index.
struct Airport: ArchiveCodable, IndexedArchivable {
    var primaryKey: String { icao }
    var icao: String
    var name: String
    var country: String
    var elevation: Double
    var opened: Date
    var tags: [String]
    static var archiveIndexes: [ArchiveIndex<Airport>] {
        [.index(\.country, \.elevation), .index(\.name)]
    }
}

/// An object whose archive has the name of a stranger.
struct Stranger: ArchiveCodable {
    static var archiveName: String { "\u{1B}[31m<b>stranger</b>\u{202E}" }
    var primaryKey: String
    var text: String
}

/// An object of many.
struct Letter: ArchiveCodable {
    var primaryKey: String
    var text: String
}

let arguments = CommandLine.arguments
guard arguments.count >= 3 else { exit(2) }
let folder = URL(fileURLWithPath: arguments[2])
let factory = ArchivesFactory(directory: folder)

func airport(_ icao: String, _ name: String, _ country: String, _ elevation: Double) -> Airport {
    Airport(
        icao: icao,
        name: name,
        country: country,
        elevation: elevation,
        opened: Date(timeIntervalSince1970: elevation * 86_400),
        tags: ["a", name]
    )
}

switch arguments[1] {
case "make":
    let airports = try factory.store(for: Airport.self, diskLimit: 8.megaByte)
    try airports.record(contentsOf: [
        airport("LSZH", "Zürich", "CH", 1416), airport("LSGG", "Genève", "CH", 1411),
        airport("LSZS", "Samedan", "CH", 5600),
        airport("RJTT", "東京国際空港", "JP", 35), airport("EDDF", "Frankfurt am Main", "DE", 364),
    ])
    try airports.record(
        contentsOf: (0..<300).map { airport("X\(1000 + $0)", "Field \($0)", "XX", Double($0)) }
    )
    let strangers = try factory.store(for: Stranger.self)
    try strangers.record(contentsOf: [
        Stranger(
            primaryKey: "\u{1B}]0;title\u{07}\nsecond line",
            text: "\u{9B}2J\u{202E}<script>alert(1)</script>"
        ),
        Stranger(primaryKey: String(repeating: "long ", count: 10_000), text: "long"),
        Stranger(primaryKey: "<img src=x>", text: "&amp;"),
    ])
    try factory.close()
    let manager = MiniCacheManager(name: "Pictures", directory: folder)
    let cache: MiniCache<String, Data> = manager.cache(
        cacheName: "Thumbnails",
        cacheVersion: .custom("3"),
        maxAge: .days(7)
    )
    for number in 0..<20 {
        try cache.set(Data(repeating: 7, count: 1000 * (number + 1)), forKey: "picture \(number)")
    }
    try manager.close()
case "touch":
    let airports = try factory.store(for: Airport.self, diskLimit: 8.megaByte)
    let key = arguments[3]
    if try airports.access(archiveWithKey: key) == nil {
        try airports.record(airport(key, "Touched", "XX", 1))
    } else {
        try airports.delete(archiveWithKey: key)
    }
    try factory.close()
case "many":
    let letters = try factory.store(for: Letter.self, diskLimit: .unlimited)
    let text = String(repeating: "x", count: 100)
    let count = Int(arguments[3]) ?? 0
    for start in stride(from: 0, to: count, by: 5000) {
        try letters.record(
            contentsOf: (start..<min(count, start + 5000)).map {
                Letter(primaryKey: "letter \($0)", text: text)
            }
        )
    }
    try factory.close()
default: exit(2)
}
