package import Foundation
internal import VellumCore

/// A folder among the system's temporary ones, which is removed with the last reference to it, and at the latest when the process exits.
package final class TemporaryFolder: Sendable {
    package let url = FileManager.default.temporaryDirectory.appendingPathComponent("Vellum-\(UUID().uuidString)", isDirectory: true)
    private let forkGuard = ForkGuard()

    /// The folders of this process, for those that something still holds when it exits, such as a global variable.
    private static let urls = Locked<Set<URL>>([])
    private static let processGuard: ForkGuard = {
        atexit { TemporaryFolder.removeAll() }
        return ForkGuard()
    }()

    package init() {
        _ = Self.processGuard
        Self.urls.withLock { _ = $0.insert(url) }
    }

    /// Whether this process made it, and not the one of which it is a copy.
    package var isOfThisProcess: Bool { forkGuard.isThisProcess }

    deinit {
        guard isOfThisProcess else { return }
        Self.urls.withLock { _ = $0.remove(url) }
        Self.remove(url)
    }

    private static func removeAll() {
        // Before the lock, which another thread may have held when this process was forked.
        guard processGuard.isThisProcess else { return }
        for url in urls.withLock({ $0 }) { remove(url) }
    }

    private static func remove(_ url: URL) {
        guard FileManager.default.fileExists(atPath: url.path) else { return }
        do {
            try FileManager.default.removeItem(at: url)
        } catch {
            Log.warning("A temporary folder could not be removed: \(error)")
        }
    }
}
