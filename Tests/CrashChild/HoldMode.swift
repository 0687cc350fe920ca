import Foundation
import RawDatabase

/// Reads the file and keeps its snapshot, like a process stopped during a read, until it receives a
/// line.
enum HoldMode {
    static func run(_ arguments: [String]) throws {
        let database = try RawDatabase(
            URL(fileURLWithPath: arguments[2]).appendingPathComponent("Archives.sqlite")
        )
        try database.execute("BEGIN")
        _ = try database.int("SELECT count(*) FROM archives")
        say("holds")
        _ = readLine()
        try database.execute("COMMIT")
        say("released")
    }

    /// Prints the number of a process that holds the lock of the wal-index which every process with
    /// the file open holds; 0 if there is none.
    static func who(_ arguments: [String]) {
        let descriptor = open(arguments[2] + "/Archives.sqlite-shm", O_RDWR)
        var lock = flock()
        (lock.l_type, lock.l_start, lock.l_len) = (Int16(F_WRLCK), 128, 1)
        guard descriptor >= 0, fcntl(descriptor, F_GETLK, &lock) == 0 else { return say("-1") }
        say(lock.l_type == Int16(F_UNLCK) ? "0" : "\(lock.l_pid)")
    }
}
