import CrashScript
import Foundation
import Vellum

// A process for the tests to observe and to kill.
//
//     CrashChild record FOLDER PREFIX COUNT DURABILITY
//         records, and prints each number once it is acknowledged
//     CrashChild record-together FOLDER PREFIX COUNT DURABILITY
//         the same in 32 tasks, whose writes share commits
//     CrashChild access FOLDER KEY
//         prints the object's text, or nothing
//     CrashChild churn FOLDER SEED DURABILITY
//         records, deletes and reads until it is killed
//     CrashChild open FOLDER MILLISECONDS
//         opens the file and closes it
//     CrashChild originals FOLDER
//         imports the objects that version 1 left in FOLDER/originals
//     CrashChild original-caches FOLDER
//         opens a cache of FOLDER/Caches.sqlite, a file of the original MiniCache
//     CrashChild share FOLDER SEED NUMBER MILLISECONDS
//         one of four that share one file for this time
//     CrashChild soak FOLDER SEED NUMBER MILLISECONDS
//         the same, and reports its memory and descriptors
//     CrashChild versions FOLDER NUMBER VERSION MILLISECONDS
//         one of several programs of two versions of a type
//     CrashChild cache FOLDER VERSION KEY VALUE
//         opens a cache with a version, prints how many values it has, and sets one
//     CrashChild flood FOLDER MEGABYTES
//         writes this amount to the same keys
//     CrashChild fill FOLDER LENGTH
//         records values until no space is left, prints their number, and waits
//     CrashChild empty FOLDER each|all|evict
//         empties what was filled, prints how many entries there were and are
//     CrashChild descriptors FOLDER
//         uses up every descriptor, and continues
//     CrashChild streams FOLDER MASK first|later
//         closes standard streams, uses a file of each kind, and writes to the streams
//     CrashChild folders
//         prints where files lie that are given by a name alone
//     CrashChild in-memory
//         makes archives in memory, prints their folder, and waits to be killed
//     CrashChild fork FOLDER
//         forks, and tries forbidden calls in the new process
//     CrashChild fork-first FOLDER
//         forks, and uses archives in the new process
//     CrashChild fork-memory
//         forks with archives in memory, and exits
//     CrashChild limit FOLDER BYTES FIRST COUNT
//         opens with a disk limit, or with - for none, and records items
//     CrashChild who FOLDER
//         prints which process has the file open, by SQLite's locks
//     CrashChild hold FOLDER
//         keeps one snapshot until it receives a line
//     CrashChild count FOLDER NAME
//         counts keys up in two threads, until it is stopped
//     CrashChild twins FOLDER SEED COUNT
//         changes so many twins
//     CrashChild pairs FOLDER NUMBER
//         writes the same numbers to two archives until it is killed
//     CrashChild back-up FOLDER TARGETS NAME
//         copies the file of the pairs again and again, until it is killed
//     CrashChild restore BACKUP FILE
//         puts a backup in the place of a file
//     CrashChild read-as USER FILE
//         reads the pairs of a file as another user
//     CrashChild later FOLDER COUNT
//         a program that has more words in the file of changes
//     CrashChild pressure FOLDER MEGABYTES
//         holds objects in memory, and carries out commands, line by line
//     CrashChild obey FOLDER
//         carries out commands, line by line
//     CrashChild touch FOLDER MILLISECONDS COUNT
//         records, prints each number, and waits to be killed
//     CrashChild script FOLDER JOURNAL SCRIPT SEED COUNT
//         carries out a script and writes a journal
//
// With VELLUM_INDEX=none in its environment it declares no index, and drops an existing one.

struct Item: ArchiveCodable {
    static var archiveName: String { "crash item" }
    var primaryKey: String { key }
    var key: String
    var text: String
    var tags: [String]

    /// The required contents of the item with a key: the key, repeated.
    static func expected(_ key: String) -> Item {
        Item(
            key: key,
            text: String(repeating: key + ",", count: 20),
            tags: ["all", "\(key.utf8.count)"]
        )
    }
}

extension Item: IndexedArchivable {
    static var archiveIndexes: [ArchiveIndex<Item>] {
        ProcessInfo.processInfo.environment["VELLUM_INDEX"] == "none"
            ? [] : [.index(\.key), .index(\.text, \.key), .each(\.tags)]
    }
}

func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

let arguments = CommandLine.arguments
// Ends a process that hangs, so that its observer does not hang: after the limit of a test, which
// says that it hangs.
alarm(
    arguments[1] == "soak" ? 0 : ["count", "twins", "pairs"].contains(arguments[1]) ? 3600 : 1200
)
do {
    switch arguments[1] {
    case "script":
        try ScriptMode.run(arguments)
        exit(0)
    case "versions":
        try VersionsMode.run(arguments)
        exit(0)
    case "open":
        try OpenMode.run(arguments)
        exit(0)
    case "originals":
        try OriginalsMode.run(arguments)
        exit(0)
    case "original-caches":
        try OriginalsMode.runCaches(arguments)
        exit(0)
    case "touch":
        try TouchMode.run(arguments)
    case "share":
        try ShareMode.run(arguments)
        exit(0)
    case "soak":
        try SoakMode.run(arguments)
        exit(0)
    case "cache":
        try CacheMode.run(arguments)
        exit(0)
    case "flood":
        try FloodMode.run(arguments)
        exit(0)
    case "fill":
        try FullDiskMode.fill(arguments)
        exit(0)
    case "empty":
        try FullDiskMode.empty(arguments)
        exit(0)
    case "third":
        try FullDiskMode.removeThird(arguments)
        exit(0)
    case "count":
        try CountMode.run(arguments)
        exit(0)
    case "twins":
        try TwinsMode.run(arguments)
        exit(0)
    case "pairs":
        try BackupMode.write(arguments)
    case "back-up":
        try BackupMode.backUp(arguments)
        exit(0)
    case "restore":
        try BackupMode.restore(arguments)
        exit(0)
    case "read-as":
        try BackupMode.read(arguments)
        exit(0)
    case "later":
        try LaterMode.run(arguments)
        exit(0)
    case "pressure":
        try PressureMode.run(arguments)
        exit(0)
    case "obey":
        try ObeyMode.run(arguments)
        exit(0)
    case "descriptors":
        try DescriptorMode.run(arguments)
        exit(0)
    case "streams":
        try StreamsMode.run(arguments)
        exit(0)
    case "folders":
        FoldersMode.run()
        exit(0)
    case "in-memory":
        try FoldersMode.runInMemory()
    case "fork":
        try ForkMode.run(arguments)
        exit(0)
    case "fork-first":
        try ForkMode.runFirst(arguments)
        exit(0)
    case "fork-memory":
        try ForkMode.runInMemory()
    case "limit":
        try LimitMode.run(arguments)
        exit(0)
    case "who":
        HoldMode.who(arguments)
        exit(0)
    case "hold":
        try HoldMode.run(arguments)
        exit(0)
    default: break
    }
} catch {
    FileHandle.standardError.write(Data("\(String(reflecting: error))\n".utf8))
    exit(1)
}
let durabilities: [String: Durability] = [
    "relaxed": .relaxed, "crashSafe": .crashSafe, "powerSafe": .powerSafe,
]
let factory = ArchivesFactory(
    directory: URL(fileURLWithPath: arguments[2]),
    durability: durabilities[arguments.last ?? ""] ?? .crashSafe
)

do {
    let store = try whileBusy {
        try factory.store(for: Item.self, memoryLimit: 10.kiloByte, diskLimit: 50.megaByte)
    }
    switch arguments[1] {
    case "record":
        for number in 0..<(Int(arguments[4]) ?? 0) {
            try whileBusy { try store.record(.expected("\(arguments[3])\(number)")) }
            say("\(number)")
        }
    case "record-together": TogetherMode.run(store, arguments[3], Int(arguments[4]) ?? 0)
    case "access":
        say(try store.access(archiveWithKey: arguments[3])?.text ?? "")
    case "churn":
        var number = Int(arguments[3]) ?? 0
        while true {
            number = (number &* 1_103_515_245 &+ 12345) & 0x7FFF_FFFF
            let key = "churn \(number / 64 % 300)"
            if number / 64 % 7 == 0 {
                try whileBusy { try store.delete(archiveWithKey: key) }
            } else {
                try whileBusy { try store.record(.expected(key)) }
            }
            _ = try store.access(archiveWithKey: "churn \(number / 1024 % 300)")
            say(key)
        }
    default: exit(2)
    }
    try whileBusy { try factory.close() }
} catch {
    FileHandle.standardError.write(Data("\(String(reflecting: error))\n".utf8))
    exit(1)
}
