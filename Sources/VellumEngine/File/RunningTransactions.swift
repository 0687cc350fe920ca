internal import Foundation
internal import Synchronization
package import VellumCore

/// The closures of transactions that are running on a file. What one of them writes to the file
/// without its transaction is refused: no error could roll it back. A closure is known by its
/// thread, which it never leaves; tasks and threads that it starts write as they please.
package final class RunningTransactions: Sendable {
    private let count = Atomic(0)
    /// How many transactions lost a race, and are tried again or wait to be.
    let retried = Atomic(0)
    /// Whether the closure on a thread tried to write.
    private let attempts = Locked<[ObjectIdentifier: Bool]>([:])

    /// - Returns: What was noted of this thread before.
    private func note(_ new: Bool?) -> Bool? {
        let thread = ObjectIdentifier(Thread.current)
        return attempts.withLock { attempts in
            defer { attempts[thread] = new }
            return attempts[thread]
        }
    }

    /// Runs the closure of a transaction.
    ///
    /// - Throws: The error of `body`, or ``VellumError/Code/recursiveUpdate`` if a write was
    ///   refused and `body` did not throw.
    package func run<Result>(_ body: () throws -> Result) throws -> Result {
        count.add(1, ordering: .relaxed)
        let outer = note(false)
        defer { count.subtract(1, ordering: .relaxed) }
        let result = Swift.Result { try body() }
        let hasTried = note(outer) ?? false
        if hasTried, case .success = result { throw VellumError.writeInTransaction }
        return try result.get()
    }

    /// Runs work of the package that may write although it was the closure of a transaction that
    /// led to it.
    package func pausing(_ body: () throws(VellumError) -> Void) throws(VellumError) {
        let outer = note(nil)
        defer { _ = note(outer) }
        try body()
    }

    /// Whether a closure is running. One relaxed load: the closure's own thread sees its count.
    var areRunning: Bool { count.load(ordering: .relaxed) > 0 }

    /// Whether a transaction lost a race and is tried again.
    var areRetried: Bool { retried.load(ordering: .relaxed) > 0 }

    /// Throws if the caller is the closure of a transaction.
    func refuseWrite() throws(VellumError) {
        guard areRunning, note(nil) != nil else { return }
        _ = note(true)
        throw .writeInTransaction
    }
}

extension VellumError {
    fileprivate static let writeInTransaction = VellumError(
        .recursiveUpdate,
        """
        Write by the transaction: its closure wrote to the same file by a store, a manager or \
        another transaction, which no error would roll back. Call 'record', 'delete' or \
        'deleteAll' of the transaction that the closure is given. Nothing was written.
        """
    )
}
