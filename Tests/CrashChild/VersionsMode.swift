import CrashScript
import Foundation
import Vellum

/// One of several programs of two versions that share a file for a number of milliseconds. Prints
/// what must be there then.
enum VersionsMode {
    /// The first version: the text is the key, repeated.
    struct First: ArchiveCodable, VersionedArchive, IndexedArchivable {
        static var archiveName: String { "versions" }
        static var archiveVersion: Int { 1 }
        static func migrate(_ old: StoredObject) throws -> Migrated<Self> {
            .object(try old.decode(Self.self))
        }
        static var archiveIndexes: [ArchiveIndex<First>] { [.index(\.number)] }
        var primaryKey: String { key }
        var key: String
        var number: Int
        var text: String

        init(key: String, number: Int) {
            (self.key, self.number, text) = (key, number, "\(key) \(number)")
        }
        var isWhole: Bool { text == "\(key) \(number)" }
    }

    /// The second: the number is negative, and called something else.
    struct Second: ArchiveCodable, VersionedArchive, IndexedArchivable {
        static var archiveName: String { "versions" }
        static var archiveVersion: Int { 2 }
        static var archiveIndexes: [ArchiveIndex<Second>] { [.index(\.negative)] }
        var primaryKey: String { key }
        var key: String
        var negative: Int
        var text: String

        init(key: String, number: Int) {
            (self.key, negative, text) = (key, -number, "\(key) \(number)")
        }
        var isWhole: Bool { text == "\(key) \(-negative)" }

        static func migrate(_ old: StoredObject) throws -> Migrated<Second> {
            let first = try old.decode(First.self)
            return .object(Second(key: first.key, number: first.number))
        }
    }

    static func run(_ arguments: [String]) throws {
        guard arguments.count == 6, let number = Int(arguments[3]), let version = Int(arguments[4]),
            let milliseconds = Int(arguments[5])
        else {
            exit(2)
        }
        let end = ContinuousClock.now + .milliseconds(milliseconds)
        var own: [String: Int] = [:]
        var (round, operations) = (0, 0)
        let factory = ArchivesFactory(directory: URL(fileURLWithPath: arguments[2]))
        while ContinuousClock.now < end {
            round += 1
            operations +=
                version == 1
                ? try share(
                    factory,
                    First.self,
                    &own,
                    number,
                    round,
                    make: First.init,
                    number: \.number,
                    isWhole: \.isWhole
                )
                : try share(
                    factory,
                    Second.self,
                    &own,
                    number,
                    round,
                    make: Second.init,
                    number: \.negative,
                    isWhole: \.isWhole
                )
            // The next opening begins the migration again, and the other program's index.
            try whileBusy { try factory.close() }
        }
        for (key, number) in own { say("own \(number) \(key)") }
        say("did \(operations)")
    }

    private static func share<
        Object: ArchiveCodable & VersionedArchive & IndexedArchivable & Sendable
    >(
        _ factory: ArchivesFactory,
        _ type: Object.Type,
        _ own: inout [String: Int],
        _ process: Int,
        _ round: Int,
        make: (String, Int) -> Object,
        number: KeyPath<Object, Int>,
        isWhole: (Object) -> Bool
    ) throws -> Int where Object.ArchiveVersionNumber == Int {
        let store = try whileBusy {
            try factory.store(for: type, memoryLimit: 20.kiloByte, diskLimit: .unlimited)
        }
        let sign = type.archiveVersion == 1 ? 1 : -1
        for step in 0..<60 {
            let key = "process \(process) \((round * 31 + step * 7) % 97)"
            switch step % 6 {
            case 0, 1, 2:
                try whileBusy { try store.record(make(key, round)) }
                own[key] = round
            case 3:
                try whileBusy { try store.delete(archiveWithKey: key) }
                own[key] = nil
            case 4:
                // Of this process, and no newer program changes it in another way than to migrate
                // it.
                do {
                    let found = try whileBusy { try store.access(archiveWithKey: key) }
                    if let found, !isWhole(found) { say("wrong \(key) is torn") }
                    if found.map({ $0[keyPath: number] * sign }) != own[key] {
                        say("wrong \(key) is not \(own[key] ?? -1)")
                    }
                } catch let error as VellumError where error.code == .newerVersion {
                    if own[key] == nil || type.archiveVersion == 2 { say("wrong \(key) is newer") }
                }
            default:
                let found = try whileBusy { try store.fetch(undecodable: .skip) }
                if !found.allSatisfy(isWhole) { say("wrong a query found a torn object") }
                if Set(found.map(\.primaryKey)).count != found.count {
                    say("wrong a query found an object twice")
                }
            }
        }
        return 60
    }
}
