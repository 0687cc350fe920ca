internal import Foundation
internal import Synchronization
internal import VellumCore

/// The lock of a database that this process keeps until another process asks for it (``LockingMode/exclusive``).
///
/// A thread of its own sleeps until then.
final class KeptLock: Sendable {
    private let changesFile: ChangesFile
    private let isKept = Atomic(true)

    /// Announces that this process keeps the lock, and waits for requests.
    ///
    /// - Parameter share: Called on another thread for each request, until ``end()``.
    init(_ changesFile: ChangesFile, share: @escaping @Sendable () -> Void) {
        self.changesFile = changesFile
        let page = changesFile.page
        // Before others can know that there is somebody to ask.
        let start = page.requests
        page.setLockHolder(changesFile.process)
        let thread = Thread { [weak self] in
            var requests = start
            while true {
                changesFile.page.waitForRequest(after: requests)
                guard let self, self.isKept.load(ordering: .acquiring) else { return }
                guard page.requests != requests else { continue }
                requests = page.requests
                share()
            }
        }
        thread.name = "Vellum lock"
        thread.start()
    }

    /// Ends the thread.
    func end() {
        guard isKept.exchange(false, ordering: .acquiringAndReleasing) else { return }
        changesFile.page.removeLockHolder(changesFile.process)
        changesFile.page.wakeWaiters()
    }
}
