import Foundation
import RawDatabase

/// Reads the file and keeps reading the same instant, as a process does that is stopped while it reads, until it is told to go on.
enum HoldMode {
    static func run(_ arguments: [String]) throws {
        let database = try RawDatabase(URL(fileURLWithPath: arguments[2]).appendingPathComponent("Archives.sqlite"))
        try database.execute("BEGIN")
        _ = try database.int("SELECT count(*) FROM archives")
        say("holds")
        _ = readLine()
        try database.execute("COMMIT")
        say("released")
    }
}
