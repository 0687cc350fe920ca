internal import Foundation
internal import Synchronization
internal import VellumCore

/// The lock of a database that this process keeps until another process asks for it (``LockingMode/exclusive``).
///
/// A thread of its own sleeps until then.
final class KeptLock: Sendable {
    private let changesFile: ChangesFile
    private let isKept = Atomic(true)

    /// Announces that this process keeps the lock, and waits for a request.
    ///
    /// - Parameter share: Called once on another thread when a process asks for the lock, unless ``end()`` was called.
    init(_ changesFile: ChangesFile, share: @escaping @Sendable () -> Void) {
        self.changesFile = changesFile
        // Before others can know that there is somebody to ask.
        let requests = changesFile.page.requests
        changesFile.page.setLockHolder(changesFile.process)
        let thread = Thread { [weak self] in
            changesFile.page.waitForRequest(after: requests)
            if let self, self.isKept.load(ordering: .acquiring) { share() }
        }
        thread.name = "Vellum lock"
        thread.stackSize = 256 << 10
        thread.start()
    }

    /// Ends the thread. The lock itself ends with the last connection.
    func end() {
        guard isKept.exchange(false, ordering: .acquiringAndReleasing) else { return }
        changesFile.page.setLockHolder(nil)
        changesFile.page.requestLock()
    }
}
