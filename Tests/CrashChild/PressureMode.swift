import Foundation
import Synchronization
import Vellum

/// Holds objects in memory, and says how many, for as long as it receives lines.
///
///     CrashChild pressure FOLDER MEGABYTES
///
/// `held` prints the objects in memory and the resident kilobytes of the process; `warning` and
/// `critical` announce a pressure; `ignore` does not follow the system; `read FILE` reads a file
/// again and again from then on, as a program under pressure by its files does.
///
/// With `VELLUM_PRESSURE=announced` in its environment it does not follow the system from the
/// beginning.
enum PressureMode {
    static func run(_ arguments: [String]) throws {
        guard arguments.count == 4, let megabytes = Int(arguments[3]) else { exit(2) }
        if ProcessInfo.processInfo.environment["VELLUM_PRESSURE"] == "announced" {
            MemoryPressure.isFollowed = false
        }
        let factory = ArchivesFactory(
            directory: URL(fileURLWithPath: arguments[2]),
            durability: .relaxed
        )
        let store = try factory.store(
            for: Item.self,
            memoryLimit: .unlimited,
            diskLimit: .unlimited
        )
        for first in stride(from: 0, to: megabytes * 1000, by: 1000) {
            let numbers = first..<first + 1000
            try store.record(
                contentsOf: numbers.map {
                    Item(key: "\($0)", text: String(repeating: "x", count: 1000), tags: [])
                }
            )
        }
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            switch words.first {
            case "held": say("\(try store.statistics().memory.entries) \(resident)")
            case "warning": MemoryPressure.announce(.warning)
            case "critical": MemoryPressure.announce(.critical)
            case "ignore": MemoryPressure.isFollowed = false
            case "read" where words.count == 2: read(words[1])
            default: exit(2)
            }
        }
        try factory.close()
    }

    private static var resident: Int {
        let status =
            FileManager.default.contents(atPath: "/proc/self/status").map {
                String(decoding: $0, as: UTF8.self)
            } ?? ""
        return status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }.flatMap {
            Int($0.filter(\.isNumber))
        } ?? 0
    }

    private static func read(_ path: String) {
        Thread.detachNewThread {
            var buffer = [UInt8](repeating: 0, count: 1 << 20)
            while true {
                let file = open(path, O_RDONLY)
                guard file >= 0 else { exit(3) }
                while Foundation.read(file, &buffer, buffer.count) > 0 {}
                close(file)
            }
        }
    }
}
