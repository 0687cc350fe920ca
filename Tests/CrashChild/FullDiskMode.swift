import CrashScript
import Foundation
import VellumCore
import VellumEngine
import VellumTestSupport

/// Fills a disk, or empties a store that has filled it.
///
///     CrashChild fill FOLDER LENGTH
///         records values of this length until no space is left, prints their number, and waits
///     CrashChild empty FOLDER each|all|evict
///         empties the archive, and records a value
///     CrashChild third FOLDER [POINT]
///         removes every third value in one transaction, and stops when it passes the point
enum FullDiskMode {
    private static func store(_ folder: String) throws -> (DatabaseFile, Store<Data>) {
        let file = try DatabaseFile.open(at: Library.url(in: folder))
        return (
            file,
            try file.store(
                named: "data",
                codec: IdentityCodec(),
                memory: Capacity(1.byte),
                disk: .unlimited
            )
        )
    }

    private static func value(_ number: Int, _ length: Int) -> Data {
        Data(repeating: UInt8(truncatingIfNeeded: number), count: length)
    }

    static func fill(_ arguments: [String]) throws {
        let (_, store) = try store(arguments[2])
        let length = Int(arguments[3]) ?? 1000
        for number in 0..<100_000 {
            do throws(VellumError) {
                try store.record(value(number, length), forKey: EntryKey("\(number)"))
            } catch {
                guard error.code == .diskFull else { throw error }
                say("\(number)")
                break
            }
        }
        _ = readLine()
    }

    static func removeThird(_ arguments: [String]) throws {
        let (file, store) = try store(arguments[2])
        if arguments.count > 3, let point = CrashPoint(rawValue: arguments[3]) {
            CrashPoint.stop(at: point)
        }
        var transaction = StoreTransaction()
        for number in 0..<(try store.count()) where number % 3 == 1 {
            transaction.remove(EntryKey("\(number)"), in: store)
        }
        try transaction.commit()
        file.waitForMaintenance()
        try file.close()
    }

    static func empty(_ arguments: [String]) throws {
        let (file, store) = try store(arguments[2])
        let length = try store.value(forKey: "0")?.count ?? 0
        for key in try store.keys() {
            guard let number = Int(key.normalized),
                try store.value(forKey: key) == value(number, length)
            else {
                throw CocoaError(.coderReadCorrupt)
            }
        }
        let count = try store.count()
        switch arguments[3] {
        case "each":
            for key in try store.keys() {
                guard try store.remove(key) else { throw CocoaError(.coderValueNotFound) }
            }
        case "all": try store.removeAll()
        default:
            try store.reconfigure(
                memory: Capacity(1.byte),
                disk: Capacity(DataSize(bytes: count * length / 2)),
                caching: .bytes
            )
            for number in 0..<count {
                try store.record(value(number, length), forKey: EntryKey("new \(number)"))
            }
        }
        try store.record(value(1, length), forKey: "again")
        file.waitForMaintenance()
        say("\(count) \(try store.count())")
        try file.close()
    }
}
