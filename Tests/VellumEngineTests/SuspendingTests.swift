import Foundation
import RawDatabase
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

@testable import VellumEngine

/// P42: iOS kills an app that is suspended while it holds a file lock.
@Suite(.ownThreads)
struct SuspendingTests {
    private let setup: Setup

    init() throws { setup = try Setup() }

    /// The locks and open files of this process on files of the folder, as the system lists them.
    private func held() throws -> [String] {
        let files = try FileManager.default.contentsOfDirectory(atPath: setup.folder.url.path)
        let nodes = try files.map { name in
            let attributes = try FileManager.default.attributesOfItem(
                atPath: setup.folder.file(name).path
            )
            return ":\(attributes[.systemFileNumber] ?? "") "
        }
        let locks = try String(contentsOfFile: "/proc/locks", encoding: .utf8).split(
            separator: "\n"
        )
        let ours = locks.filter { line in nodes.contains { line.contains($0) } }.map(String.init)
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter {
            descriptor in
            var name = [CChar](repeating: 0, count: 4096)
            let count = readlink("/proc/self/fd/\(descriptor)", &name, name.count - 1)
            return count > 0
                && String(decoding: name[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
                    .hasPrefix(setup.folder.url.path)
        }
        return ours + open
    }

    #if os(Linux)
        @Test(arguments: Durability.allCases)
        func suspendingReleasesAllLocksAndOpenFiles(_ durability: Durability) throws {
            let store = try setup.store(durability: durability)
            for number in 0..<100 {
                try store.record(Data(number, count: 100), forKey: EntryKey("\(number)"))
            }
            store.trimMemory(to: 0)
            #expect(try store.value(forKey: "5") != nil)
            #expect(try !held().isEmpty)
            let file = try setup.open()
            try file.suspend()
            #expect(try held() == [])
            try file.resume()
            #expect(try store.count() == 100)
            #expect(try store.value(forKey: "7") == Data(7, count: 100))
        }
    #endif

    @Test func callsThatNeedTheDiskThrowWhileSuspended() throws {
        let store = try setup.store()
        try store.record(Data("one".utf8), forKey: "a")
        try store.record(Data("two".utf8), forKey: "b")
        let file = try setup.open()
        try file.suspend()
        try file.suspend()
        #expect(try store.value(forKey: "a") == Data("one".utf8))
        // The pool of readers and the writer say so, too.
        #expect(code { _ = try file.location.isUsable() } == .suspended)
        store.trimMemory(to: 0)
        #expect(code { _ = try store.value(forKey: "a") } == .suspended)
        #expect(code { try store.record(Data(), forKey: "c") } == .suspended)
        #expect(code { try store.remove("a") } == .suspended)
        #expect(code { _ = try store.keys() } == .suspended)
        #expect(code { try store.flush() } == .suspended)
        try file.resume()
        try file.resume()
        #expect(try store.value(forKey: "a") == Data("one".utf8))
        try store.record(Data("three".utf8), forKey: "c")
        #expect(try store.keys().map(\.normalized) == ["c", "a", "b"])
    }

    @Test func suspendingCommitsRelaxedWrites() throws {
        let store = try setup.store(durability: .relaxed)
        for number in 0..<50 {
            try store.record(Data(number, count: 10), forKey: EntryKey("\(number)"))
        }
        let file = try setup.open()
        try file.suspend()
        #expect(try RawDatabase(setup.url).int("SELECT count(*) FROM entries") == 50)
        try file.resume()
        #expect(try store.count() == 50)
    }

    @Test func changesOfOtherProcessesDuringSuspensionAreVisible() throws {
        let store = try setup.store()
        try store.record(Data("old".utf8), forKey: "a")
        try store.record(Data("stays".utf8), forKey: "b")
        let file = try setup.open()
        try file.suspend()
        try RawDatabase(setup.url).execute(
            """
            DELETE FROM entries WHERE id = (1 << 40) + 1; UPDATE archives SET entries = 1, bytes = \
            5, next = 3
            """
        )
        try file.resume()
        store.trimMemory(to: 0)
        #expect(try store.value(forKey: "a") == nil)
        try store.record(Data("next".utf8), forKey: "c")
        #expect(try store.statistics().disk == StorageUsage(entries: 2, bytes: 9))
    }

    @Test func aSuspendedFileCanBeClosed() throws {
        let store = try setup.store()
        try store.record(Data("one".utf8), forKey: "a")
        let file = try setup.open()
        try file.suspend()
        try file.close()
        #expect(code { _ = try store.count() } != nil)
        #expect(try setup.store().value(forKey: "a") == Data("one".utf8))
    }

    @Test func resumingWhileTheFileIsBeingSuspendedLeavesItUsable() throws {
        let store = try setup.store(durability: .relaxed)
        try store.record(Data("one".utf8), forKey: "a")
        let file = try setup.open()
        let (suspending, resuming) = file.log.checkpointing.withLock { _ in
            let suspending = OnThread { code { try file.suspend() } }
            blockUntil("the file is being suspended") { file.state == .suspended }
            return (suspending, OnThread { code { try file.resume() } })
        }
        #expect((suspending.result(), resuming.result()) == (nil, nil))
        #expect(file.state == .open)
        store.trimMemory(to: 0)
        #expect(try store.value(forKey: "a") == Data("one".utf8))
        try store.record(Data("two".utf8), forKey: "b")
        try setup.close()
        #expect(try setup.store().count() == 2)
    }

    @Test func aCallWhileTheFileIsBeingClosedThrowsClosed() throws {
        for round in 0..<60 {
            let store = try setup.store()
            try store.record(Data(round, count: 2000), forKey: "a")
            let file = try setup.open()
            let call = OnThread {
                while true {
                    let failure =
                        code { try file.checkLocation() }
                        ?? code { _ = try store.value(forKey: "missing") }
                    if let failure { return failure }
                }
            }
            try file.close()
            #expect(call.result() == .closed)
            #expect(file.state == .closed)
        }
    }
}
