import Foundation
import Vellum

// An earlier version of the demonstration's program: it records airports as its type was then.
//
//     AirportsBefore FOLDER LIST    LIST has a line for each airport: code, name, state and elevation, with tabs between them

struct Airfield: ArchiveCodable {
    static var archiveName: String { "Airports.Airfield" }
    var primaryKey: String { code }
    var code: String
    var name: String
    var state: String
    /// In feet.
    var elevation: Int
}

let arguments = CommandLine.arguments
guard arguments.count == 3 else {
    print("usage: AirportsBefore FOLDER LIST")
    exit(2)
}
let lines = try String(contentsOfFile: arguments[2], encoding: .utf8).split(separator: "\n")
let airfields = lines.compactMap { line -> Airfield? in
    let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    guard fields.count == 4, let elevation = Int(fields[3]) else { return nil }
    return Airfield(code: fields[0], name: fields[1], state: fields[2], elevation: elevation)
}
let factory = ArchivesFactory(directory: URL(fileURLWithPath: arguments[1]))
let archive = try factory.store(for: Airfield.self, diskLimit: .unlimited)
for start in stride(from: 0, to: airfields.count, by: 1000) {
    try archive.record(contentsOf: airfields[start..<min(start + 1000, airfields.count)])
}
print(try archive.count())
try factory.close()
