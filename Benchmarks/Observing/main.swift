// What observing costs: a record with and without observers, the delay of another process's change,
// an idle minute, and observers that come and go. Every write is `.crashSafe`.
//
//     make bench-observe

import Foundation
import Vellum

struct Entry: ArchiveCodable, IndexedArchivable, Equatable, Sendable {
    static var archiveIndexes: [ArchiveIndex<Entry>] { [.index(\.number)] }
    var primaryKey: String { "\(id)" }
    var id: Int
    var number: Int
    var moment = 0.0
}

func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

extension [Double] {
    func part(_ part: Double) -> Double {
        sorted()[Swift.min(count - 1, Int(Double(count) * part))]
    }
}

func say(_ title: String, _ values: [Double], _ unit: String = "µs") {
    let (median, tail, most) = (values.part(0.5), values.part(0.99), values.max() ?? 0)
    let text = [median, tail, most].map { $0.formatted(.number.precision(.fractionLength(1))) }
    print(
        title.padding(toLength: 58, withPad: " ", startingAt: 0),
        "median \(text[0]) \(unit), p99 \(text[1]), most \(text[2])"
    )
}

/// Of this process, as the system counts them.
func status(_ name: String) throws -> Int {
    let lines = try String(contentsOfFile: "/proc/self/status", encoding: .utf8).split(
        separator: "\n"
    )
    return lines.first { $0.hasPrefix(name) }?.split(whereSeparator: { !$0.isNumber }).first.flatMap
    { Int($0) } ?? 0
}

/// How often a thread of this process gave up the processor itself: each is followed by a wake-up.
func wakeUps() -> Int {
    var usage = rusage()
    #if canImport(Darwin)
        getrusage(RUSAGE_SELF, &usage)
    #else
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    #endif
    return usage.ru_nvcsw
}

let arguments = CommandLine.arguments
let folder = URL(
    fileURLWithPath: arguments.count > 2
        ? arguments[2] : NSTemporaryDirectory() + "observing-\(UUID().uuidString)"
)
let factory = ArchivesFactory(directory: folder)
let store: ArchiveStore<Entry> = try factory.store(memoryLimit: 50.megaByte, diskLimit: .unlimited)
let people = 100_000

if arguments.count == 3, arguments[1] == "writer" {
    for _ in 0..<100 {
        try store.record(Entry(id: 0, number: -1, moment: now()))
        usleep(100_000)
    }
    exit(0)
}

try store.record(contentsOf: (0..<people).map { Entry(id: $0, number: $0 % 1000) })
func records(_ count: Int) throws -> [Double] {
    try (0..<count).map { number in
        let start = now()
        try store.record(Entry(id: (number * 7919) % people, number: number % 1000))
        return (now() - start) * 1e6
    }
}
_ = try records(2000)
say("A record, nobody observes", try records(5000))
let observers = (0..<10).map { number in
    Task {
        let (low, high) = (number * 100, number * 100 + 20)
        let query = #Predicate<Entry> { $0.number >= low && $0.number < high }
        for try await _ in store.observe(
            where: query,
            sortedBy: [SortDescriptor(\.number)],
            limit: 20
        ) {}
    }
}
try await Task.sleep(for: .seconds(1))
say("A record, ten observe indexed queries of 20 of 100,000", try records(5000))
for observer in observers { observer.cancel() }
for observer in observers { try await observer.value }
say("A record, nobody observes any more", try records(5000))

let delays = Task {
    var delays: [Double] = []
    for try await entry in store.observe(archiveWithKey: "0") {
        if let entry, entry.moment > 0 { delays.append((now() - entry.moment) * 1000) }
        if delays.count == 95 { break }
    }
    return delays
}
let writer = Process()
writer.executableURL = URL(fileURLWithPath: arguments[0])
writer.arguments = ["writer", folder.path]
try writer.run()
say("A change of another process, one each 100 ms", try await delays.value, "ms")
writer.waitUntilExit()

let idle = Task { for try await _ in store.observe() {} }
try await Task.sleep(for: .seconds(5))
let before = wakeUps()
let seconds = 60
try await Task.sleep(for: .seconds(seconds))
print(
    """
    An idle observer: \(wakeUps() - before) wake-ups of all threads in \(seconds) s; the end of \
    the measurement is one
    """
)
idle.cancel()
try await idle.value

func comeAndGo(_ count: Int) async throws {
    for _ in 0..<count {
        var answers = store.observe(archiveWithKey: "1").makeAsyncIterator()
        _ = try await answers.next()
    }
}
try await comeAndGo(1000)
let resident = try status("VmRSS")
try await comeAndGo(10_000)
print(
    "10,000 observers came and went: resident memory grew by \(try status("VmRSS") - resident) KiB"
)
try factory.close()
try FileManager.default.removeItem(at: folder)
