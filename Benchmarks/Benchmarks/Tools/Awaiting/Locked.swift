import CRawSQLite
import Foundation
import Synchronization
import Vellum

// Another process keeps the lock of a file: who waits for it, for how long, and whom that delays.

/// The other process: this program once more.
enum LockHolder {
    static let option = "--hold"

    /// Takes the lock of a file, says so, and keeps it until its input ends.
    static func run(_ path: String) -> Never {
        var database: OpaquePointer?
        guard sqlite3_open(path, &database) == SQLITE_OK,
            sqlite3_exec(database, "BEGIN IMMEDIATE", nil, nil, nil) == SQLITE_OK
        else { exit(2) }
        FileHandle.standardOutput.write(Data("held\n".utf8))
        _ = try? FileHandle.standardInput.readToEnd()
        exit(0)
    }

    /// Runs `body` while another process has the lock.
    static func holding(_ file: URL, _ body: () async throws -> Void) async throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        process.arguments = [option, file.path]
        let input = Pipe()
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        precondition(output.fileHandleForReading.availableData.count > 0, "no lock")
        try await body()
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}

struct TimedCall: Sendable {
    var name: String
    var run: @Sendable (ArchiveStore<Item>, String) async throws -> Void

    init(
        _ name: String,
        _ run: @escaping @Sendable (ArchiveStore<Item>, String) async throws -> Void
    ) {
        self.name = name
        self.run = run
    }

    static let awaited = [
        TimedCall("record") { try await $0.async.record(Item(key: $1)) },
        TimedCall("delete") { _ = try await $0.async.delete(archiveWithKey: $1) },
        TimedCall("update") { store, key in
            try await store.async.update(archiveWithKey: key) { $0 = Item(key: key) }
        },
        TimedCall("transaction") { store, key in
            try await store.async.transaction { try $0.record(Item(key: key), in: store) }
        },
        TimedCall("perform") { store, key in
            try await store.perform { try $0.record(Item(key: key)) }
        },
        TimedCall("load") { store, key in
            _ = try await store.value(forKey: key) { Item(key: key) }
        },
    ]

    static let reads = [
        TimedCall("access") { _ = try await $0.async.access(archiveWithKey: $1) },
        TimedCall("fetch") { store, key in
            _ = try await store.async.fetch(where: #Predicate { $0.id == key })
        },
    ]

    static let direct = [
        TimedCall("direct record") { store, key in try store.record(Item(key: key)) },
        TimedCall("direct access") { store, key in _ = try store.access(archiveWithKey: key) },
        TimedCall("direct update") { store, key in
            try store.update(archiveWithKey: key) { $0?.count += 1 }
        },
    ]
}

extension Item {
    init(key: String) {
        self.init(0, 0)
        id = key
    }
}

/// How long the calls of each kind took, in seconds.
final class Times: Sendable {
    private let times = Mutex<[String: [Double]]>([:])

    var all: [String: [Double]] { times.withLock { $0 } }

    func add(_ name: String, _ time: Duration) {
        times.withLock { $0[name, default: []].append(time / .seconds(1)) }
    }

    func measure(_ name: String, _ body: () async throws -> Void) async {
        let begin = ContinuousClock.now
        var outcome = ""
        do {
            try await body()
        } catch let error as VellumError where error.code == .busy {
        } catch {
            outcome = ", \(error)"
        }
        add(name + outcome, .now - begin)
    }
}

/// A hundred tasks of each kind, which come within five seconds, and 64 threads that record wait for
/// a file that another process has locked.
@MainActor
func locked() async throws {
    print("A file that another process has locked: seconds until its callers get `busy`")
    let waiting = ArchivesFactory(directory: folder.appending(path: "locked"))
    let answering = ArchivesFactory(directory: folder.appending(path: "free"))
    let store: ArchiveStore<Item> = try waiting.store(memoryLimit: 1.byte)
    let other: ArchiveStore<Item> = try answering.store(memoryLimit: 1.byte)
    try other.record(contentsOf: (0..<100).map { Item(key: "\($0)") })
    try store.record(Item(key: "0"))
    let callers = Times()
    let others = Times()
    let file = waiting.directory.appending(path: "Archives.sqlite")
    try await LockHolder.holding(file) {
        await withTaskGroup(of: Void.self) { group in
            for call in TimedCall.awaited {
                for number in 0..<100 {
                    group.addTask {
                        do { try await Task.sleep(for: .milliseconds(50 * number)) } catch {}
                        await callers.measure(call.name) {
                            try await call.run(store, "\(call.name) \(number)")
                        }
                    }
                }
            }
            for number in 0..<64 {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        Thread.detachNewThread {
                            let begin = ContinuousClock.now
                            do { try store.record(Item(key: "direct \(number)")) } catch {}
                            callers.add("direct record", .now - begin)
                            continuation.resume()
                        }
                    }
                }
            }
            group.addTask {
                // Many wait.
                do { try await Task.sleep(for: .seconds(1)) } catch {}
                for _ in 0..<20 {
                    for call in TimedCall.awaited + TimedCall.reads + TimedCall.direct {
                        await others.measure(call.name) { try await call.run(other, "1") }
                    }
                    do { try await Task.sleep(for: .milliseconds(100)) } catch {}
                }
            }
        }
    }
    for (name, times) in callers.all.sorted(by: { $0.key < $1.key }) {
        let least = times.min() ?? 0
        let most = times.max() ?? 0
        let range = String(format: "%.1f to %.1f s", least, most)
        require(least >= 9.99 && most <= 11, "\(times.count) of \(name) 10 to 11 s: \(range)")
    }
    for (name, times) in others.all.sorted(by: { $0.key < $1.key }) {
        let most = 1000 * (times.max() ?? 0)
        require(most <= 50, String(format: "\(name) of another file at most 50 ms: %.1f", most))
    }
    try waiting.close()
    try answering.close()
}
