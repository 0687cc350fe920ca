import CrashScript
import Foundation
import TestThreads
import Testing
import VellumEngine
import VellumTestSupport
import Vellum

/// C6, and part of C10: processes that are killed, and several processes on one file.
@Suite(.ownThreads(.longSuite), .serialized)
struct CrashTests {
    struct Item: ArchiveCodable, Equatable {
        static var archiveName: String { "crash item" }
        var primaryKey: String { key }
        var key: String
        var text: String
        var tags: [String] = []
    }

    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    static var kills: Int {
        ProcessInfo.processInfo.environment["VELLUM_KILLS"].flatMap(Int.init) ?? 4
    }

    private func open() throws -> (ArchivesFactory, ArchiveStore<Item>) {
        let factory = ArchivesFactory(directory: folder.url)
        return (
            factory,
            try factory.store(for: Item.self, memoryLimit: 10.kiloByte, diskLimit: 50.megaByte)
        )
    }

    private func expected(_ key: String) -> String { String(repeating: key + ",", count: 20) }

    private func checkWholeness() throws {
        let report = try DatabaseFile.open(at: folder.file("Archives.sqlite")).verify()
        #expect(report.isIntact, "\(report)")
    }

    /// - Parameter inFlight: How many writes may have been committed but not acknowledged.
    @Test(arguments: [("record", 1), ("record-together", 32)], ["crashSafe", "powerSafe"])
    func aKilledProcessLosesNoAcknowledgedWrite(
        _ mode: (name: String, inFlight: Int),
        _ durability: String
    ) throws {
        var random = SeededGenerator(seed: UInt64(Self.kills))
        for round in 0..<Self.kills / 2 {
            let child = try Spawned([
                mode.name, folder.url.path, "r\(round) ", "1000000", durability,
            ])
            var acknowledged: [String] = []
            for _ in 0..<Int.random(in: 1...400, using: &random) {
                if let line = child.line() { acknowledged.append(line) }
            }
            acknowledged += child.kill()
            let (factory, store) = try open()
            for number in acknowledged {
                let key = "r\(round) \(number)"
                #expect(
                    try store.access(archiveWithKey: key)?.text == expected(key),
                    "round \(round), \(number)"
                )
            }
            #expect(acknowledged.count...acknowledged.count + mode.inFlight ~= (try store.count()))
            try checkWholeness()
            try store.deleteAll()
            try factory.close()
        }
    }

    /// Relaxed durability may lose the last writes, never earlier ones.
    @Test func aKilledProcessLosesAtMostItsLastRelaxedWrites() throws {
        for round in 0..<Self.kills / 4 {
            let child = try Spawned(["record", folder.url.path, "r\(round) ", "1000000", "relaxed"])
            for _ in 0..<700 { _ = child.line() }
            let said = 700 + child.kill().count
            let (factory, store) = try open()
            let count = try store.count()
            #expect(count >= said - 256 && count <= said + 1)
            for number in 0..<count {
                #expect(try store.access(archiveWithKey: "r\(round) \(number)") != nil)
            }
            try checkWholeness()
            try store.deleteAll()
            try factory.close()
        }
    }

    @Test func processesKilledDuringAnyOperationLeaveTheFileIntact() throws {
        for round in 0..<Self.kills {
            let children = try (0..<2).map {
                try Spawned(["churn", folder.url.path, "\(round * 7 + $0)", "crashSafe"])
            }
            for child in children { for _ in 0..<(20 + round * 13 % 200) { _ = child.line() } }
            for child in children { _ = child.kill() }
            try checkWholeness()
            let (factory, store) = try open()
            for item in try store.accessAll() { #expect(item.text == expected(item.key)) }
            try factory.close()
        }
    }

    @Test func anotherProcessSeesTheWritesOfThisOne() throws {
        let (factory, store) = try open()
        try store.record(Item(key: "mine", text: "recorded here"))
        #expect(
            try Spawned(["access", folder.url.path, "mine"]).end().lines.first == "recorded here"
        )
        try store.record(Item(key: "mine", text: "recorded again"))
        #expect(
            try Spawned(["access", folder.url.path, "mine"]).end().lines.first == "recorded again"
        )
        try store.delete(archiveWithKey: "mine")
        #expect(try Spawned(["access", folder.url.path, "mine"]).end().lines.first == "")
        // And in the other direction, although a reader here has just read the file.
        #expect(try store.access(archiveWithKey: "theirs0") == nil)
        #expect(
            try Spawned(["record", folder.url.path, "theirs", "1", "crashSafe"]).end().lines == [
                "0"
            ]
        )
        #expect(try store.access(archiveWithKey: "theirs0")?.text == expected("theirs0"))
        try factory.close()
    }

    @Test func severalProcessesOnOneFileLoseNothing() throws {
        let count = LongRun.number(300, usually: 100)
        let children = try (0..<3).map {
            try Spawned(["record", folder.url.path, "p\($0) ", "\(count)", "crashSafe"])
        }
        let (factory, store) = try whileBusy { try open() }
        for number in 0..<count {
            try whileBusy { try store.record(Item(key: "own \(number)", text: "x")) }
        }
        for child in children {
            let (end, lines) = child.end()
            #expect(lines.count == count)
            #expect(end == .exited(0))
        }
        #expect(try store.count() == 4 * count)
        for process in 0..<3 {
            for number in 0..<count {
                let key = "p\(process) \(number)"
                #expect(try store.access(archiveWithKey: key)?.text == expected(key))
            }
        }
        try checkWholeness()
        try factory.close()
    }
}
