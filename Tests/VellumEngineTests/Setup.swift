import Dispatch
import Foundation
import TestThreads
import Testing
import VellumCore
import VellumTestSupport

@testable import VellumEngine

/// A store of strings in a temporary folder.
final class Setup: Sendable {
    let folder: TemporaryDirectory
    let clock = ManualClock()

    init() throws { folder = try TemporaryDirectory() }

    var url: URL { folder.file("Archives.sqlite") }

    func open() throws -> DatabaseFile { try DatabaseFile.open(at: url, clock: clock.wallClock) }

    /// Closes everything, so that the file can be inspected and changed: maintenance may keep it
    /// open for a moment after the last handle is released.
    func close() throws { try open().close() }

    func store(
        _ name: String = "strings",
        memory: DataSize = 1.megaByte,
        disk: DataSize = 100.megaByte,
        durability: Durability = .crashSafe
    ) throws -> Store<Data> {
        try open().store(
            named: name,
            codec: IdentityCodec(),
            memory: Capacity(memory),
            disk: Capacity(disk),
            caching: .values,
            durability: durability
        )
    }
}

extension Data {
    /// A number of bytes that differ from key to key.
    init(_ number: Int, count: Int) {
        self.init(repeating: UInt8(truncatingIfNeeded: number), count: count)
    }
}

/// The code of the error that `body` throws; `nil` if it succeeds.
func code(_ body: () throws -> Void) -> VellumError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? VellumError)?.code
    }
}

/// A flag that one task sets and another reads.
final class Flag: Sendable {
    private let value = Locked(false)
    var isSet: Bool { value.withLock { $0 } }
    func set() { value.withLock { $0 = true } }
}

/// Runs `body` on so many threads at once, and waits for them.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let threads = (0..<count).map { number in OnThread { body(number) } }
    for thread in threads { thread.result() }
}

extension DatabaseFile {
    /// Runs `body` while nothing runs in the background, but the building of indexes.
    func withoutMaintenance<Result>(_ body: () throws -> Result) rethrows -> Result {
        let (began, working) = (DispatchSemaphore(value: 0), DispatchGroup())
        working.enter()
        defer { working.leave() }
        blockUntil("the work in the background stands still") {
            // Not taken if another sweep is due.
            maintenance.schedule(.sweep, after: .nanoseconds(0)) {
                began.signal()
                working.wait()
            }
            return began.wait(timeout: .now()) == .success
        }
        return try body()
    }
}
