import Foundation
import Samples
import Vellum

/// Four processes of two threads each that record, read and delete in one file, compared with as
/// many that hold a lock for as long as a record takes: with eight threads on a few cores, most of
/// a long wait is the scheduler's.
enum Contention {
    private static let processes = 4
    private static let threads = 2
    /// How long the lock is held, in nanoseconds.
    private static let hold: UInt64 = 25_000

    static func measure(_ workspace: Workspace) throws -> [Figure] {
        let seconds = workspace.isQuick ? 4 : 15
        let (lock, _) = try run("lock", seconds, workspace)
        let (store, rate) = try run("store", seconds, workspace)
        return [
            Figure(
                title: "Operations of four processes of two threads, together",
                value: rate,
                unit: "/s"
            ),
            Figure(
                title: "A record then, median of \(store.count)",
                value: store.median / 1e6,
                unit: "ms"
            ),
            Figure(title: "… its p99.9", value: store.p999 / 1e6, unit: "ms"),
            Figure(title: "… its maximum", value: store.maximum / 1e6, unit: "ms", limit: 500),
            Figure(title: "A bare lock in its place, p99.9", value: lock.p999 / 1e6, unit: "ms"),
            Figure(title: "… its maximum", value: lock.maximum / 1e6, unit: "ms"),
            Figure(
                title: "The p99.9 of a record by that of the lock",
                value: store.p999 / lock.p999,
                unit: "x",
                limit: 2
            ),
            Figure(
                title: "The maximum of a record by that of the lock",
                value: store.maximum / lock.maximum,
                unit: "x",
                limit: 3
            ),
        ]
    }

    private static func run(
        _ kind: String,
        _ seconds: Int,
        _ workspace: Workspace
    ) throws -> (Distribution, rate: Double) {
        let folder = try workspace.folder("contention-\(kind)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let factory = ArchivesFactory(directory: folder)
        try factory.store(for: Person.self, memoryLimit: 1.kiloByte, diskLimit: 1.gigaByte)
            .record(contentsOf: (0..<20_000).map(Person.init))
        try factory.close()
        let children = try (0..<processes).map { number in
            let child = Process()
            child.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
            child.arguments = ["contend", kind, folder.path, "\(number)", "\(seconds)"]
            try child.run()
            return child
        }
        for child in children {
            child.waitUntilExit()
            guard child.terminationStatus == 0 else { fatalError("A process failed.") }
        }
        var (times, operations): ([Double], Double) = ([], 0)
        for number in 0..<processes {
            let numbers = try Data(contentsOf: folder.appendingPathComponent("times-\(number)"))
                .withUnsafeBytes {
                    Array($0.bindMemory(to: Double.self))
                }
            operations += numbers[0]
            times += numbers.dropFirst()
        }
        return (Distribution(times), operations / Double(seconds))
    }

    /// The child's process. Writes the number of its operations to a file, and how long each record
    /// took.
    static func contend(_ arguments: [String]) throws {
        let folder = URL(fileURLWithPath: arguments[1])
        let (number, seconds) = (Int(arguments[2]) ?? 0, Int(arguments[3]) ?? 1)
        let body = arguments[0] == "lock" ? try lock(folder) : try store(folder, number)
        let workers = (0..<threads).map { thread in
            Worker { count in try body(thread, count) }
        }
        Thread.sleep(forTimeInterval: Double(seconds))
        let all = workers.map { $0.stopInOrder() }
        // Half of the operations are records.
        var numbers = [Double(all.reduce(0) { $0 + $1.count })]
        for times in all { numbers += stride(from: 0, to: times.count, by: 2).map { times[$0] } }
        try numbers.withUnsafeBytes {
            try Data($0).write(to: folder.appendingPathComponent("times-\(number)"))
        }
    }

    private static func store(
        _ folder: URL,
        _ number: Int
    ) throws -> @Sendable (Int, Int) throws -> Void {
        let store = try ArchivesFactory(directory: folder).store(
            for: Person.self,
            memoryLimit: 100.kiloByte,
            diskLimit: 1.gigaByte
        )
        return { thread, count in
            let key = (count &* 7919 &+ thread &* 104_729 &+ number &* 1_299_709) % 40_000
            switch count % 10 {
            case 9: try store.delete(archiveWithKey: Person.key(key))
            case let kind where kind % 2 == 0: try store.record(Person(key))
            default: _ = try store.access(archiveWithKey: Person.key(key))
            }
        }
    }

    private static func lock(_ folder: URL) throws -> @Sendable (Int, Int) throws -> Void {
        let descriptor = open(folder.appendingPathComponent("lock").path, O_RDWR | O_CREAT, 0o600)
        guard descriptor >= 0, ftruncate(descriptor, 4096) == 0,
            let memory = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
            memory != MAP_FAILED
        else { throw CocoaError(.fileWriteUnknown) }
        let mutex = SharedMutex(pointer: memory.assumingMemoryBound(to: pthread_mutex_t.self))
        // The first to make the mark initializes the lock.
        if mkdir(folder.appendingPathComponent("mark").path, 0o700) == 0 {
            var attributes = pthread_mutexattr_t()
            pthread_mutexattr_init(&attributes)
            pthread_mutexattr_setpshared(&attributes, Int32(PTHREAD_PROCESS_SHARED))
            pthread_mutex_init(mutex.pointer, &attributes)
            mkdir(folder.appendingPathComponent("ready").path, 0o700)
        }
        while !FileManager.default.fileExists(atPath: folder.appendingPathComponent("ready").path) {
            usleep(1000)
        }
        return { _, count in
            guard count % 2 == 0 || count % 10 == 9 else { return spin(5_000) }
            pthread_mutex_lock(mutex.pointer)
            spin(hold)
            pthread_mutex_unlock(mutex.pointer)
        }
    }

    private static func spin(_ nanoseconds: UInt64) {
        let end = DispatchTime.now().uptimeNanoseconds + nanoseconds
        while DispatchTime.now().uptimeNanoseconds < end {}
    }

    /// `@unchecked Sendable` because the lock is made to be used by all threads.
    private struct SharedMutex: @unchecked Sendable {
        let pointer: UnsafeMutablePointer<pthread_mutex_t>
    }
}
