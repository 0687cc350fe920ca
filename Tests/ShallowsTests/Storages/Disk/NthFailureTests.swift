import Foundation
import TestThreads
import Testing
import VellumCore
import VellumEngine

@testable import Shallows

/// Every call of a folder's day fails, once or from then on: nothing acknowledged is lost, and no
/// failure looks like a miss.
@Suite(.ownThreads(.longSuite))
struct NthFailureTests {
    /// Lets the calls after `left` others fail.
    private final class Faults: Sendable {
        private struct State {
            var calls: [String] = []
            var failing: Range<Int> = 0..<0
        }

        private let state = Locked(State())

        /// The names of those that were made.
        var calls: [String] { state.withLock { $0.calls } }
        func fail(_ range: Range<Int>) { state.withLock { $0 = State(calls: [], failing: range) } }

        private func fails(_ name: String) -> Bool {
            state.withLock { state in
                defer { state.calls.append(name) }
                return state.failing.contains(state.calls.count)
            }
        }

        func files(_ code: Int32) -> FileSystem {
            FileSystem {
                $0.open = { self.fails("open") ? -code : SystemCalls.open($0, $1) }
                $0.read = { self.fails("read") ? Int(-code) : SystemCalls.read($0, $1, $2) }
                $0.readAt = {
                    self.fails("readAt") ? Int(-code) : SystemCalls.readAt($0, $1, $2, $3)
                }
                $0.write = {
                    self.fails("write")
                        ? min(-Int(code), SystemCalls.write($0, $1, $2 / 2))
                        : SystemCalls.write($0, $1, $2)
                }
                $0.sync = { _, _ in self.fails("sync") ? -code : 0 }  // No power is lost here.
                $0.close = { file in
                    let answer = SystemCalls.close(file)
                    return self.fails("close") ? -code : answer
                }
                $0.rename = { self.fails("rename") ? -code : SystemCalls.rename($0, $1) }
                $0.unlink = { self.fails("unlink") ? -code : SystemCalls.unlink($0) }
                $0.makeFolder = { self.fails("makeFolder") ? -code : SystemCalls.makeFolder($0) }
                $0.removeFolder = {
                    self.fails("removeFolder") ? -code : SystemCalls.removeFolder($0)
                }
                $0.status = { self.fails("status") ? .failure(-code) : SystemCalls.status($0) }
                $0.statusAt = {
                    self.fails("statusAt") ? .failure(-code) : SystemCalls.statusAt($0)
                }
                $0.list = { self.fails("list") ? .failure(-code) : SystemCalls.list($0) }
            }
        }
    }

    private static let long = Filename(rawValue: String(repeating: "k", count: 300))
    private static let keys: [Filename] = ["key", "a/b", long]

    private static func day(_ files: FolderFiles, _ moment: String) -> [Filename: Set<Data?>] {
        // What each key may hold: one value, or two after a write that failed after the value had
        // its name already.
        var may: [Filename: Set<Data?>] = [:]
        for number in 0..<15 {
            let key = keys[number % 3]
            let value: Data? =
                number % 7 == 6
                ? nil
                : Data(repeating: UInt8(number + 1), count: number % 4 == 3 ? 100_000 : number)
            do throws(FileError) {
                if let value { try files.write(value, for: key) } else { _ = try files.remove(key) }
                may[key] = [value]
            } catch {
                if error.step == .syncing || error.step == .removing {
                    may[key, default: [nil]].insert(value)
                }
            }
            for key in keys {
                do throws(FileError) {
                    let found = try files.read(key)
                    #expect(
                        may[key, default: [nil]].contains(found),
                        "\(moment): \(found?.count ?? -1) bytes under a key"
                    )
                } catch {
                    #expect([EIO, ENOSPC].contains(error.code), "\(moment): \(error)")
                }
            }
        }
        return may
    }

    @Test(arguments: [EIO, ENOSPC], [FileSync.none, .complete])
    func aFailingCallIsReportedAndLosesNothing(code: Int32, sync: FileSync) throws {
        let faults = Faults()
        func run(_ failing: Range<Int>) throws {
            let scratch = try Scratch()
            let files = FolderFiles(
                .init(folder: scratch.folder, sync: sync, fileSystem: faults.files(code))
            )
            faults.fail(failing)
            let may = Self.day(files, "\(failing) fail with \(code)")
            faults.fail(0..<0)
            for (key, values) in may {
                #expect(values.contains(try files.read(key)), "\(failing) failed with \(code)")
            }
            for key in Self.keys {
                try files.write("again", for: key)
                #expect(try files.string(key) == "again")
            }
            #expect(Set(try files.keys()) == Set(Self.keys))
        }
        try run(0..<0)
        let scratch = try Scratch()
        faults.fail(0..<0)
        _ = Self.day(
            FolderFiles(.init(folder: scratch.folder, sync: sync, fileSystem: faults.files(code))),
            "counting"
        )
        let calls = faults.calls
        let count = calls.count
        #expect(count > 100)
        let all = ProcessInfo.processInfo.environment["VELLUM_FAULTS"] == "all"
        // One of each kind, and some between them.
        let kinds = Dictionary(grouping: calls.indices) { calls[$0] }.values
            .map { $0[$0.count / 2] }
        let part = max(1, count / LongRun.number(30, usually: 3))
        let numbers = Set(stride(from: 0, to: count, by: all ? 1 : part)).union(kinds).sorted()
        for number in numbers {
            try run(number..<number + 1)
            try run(number..<Int.max)
        }
        if all {
            print(
                """
                FIGURES faults, folder, \(sync), \(code): \(count) calls, each failed once and \
                from then on
                """
            )
        }
    }
}
