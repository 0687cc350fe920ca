package import Foundation
internal import VellumCore

/// A folder among the system's temporary ones, which is removed with the last reference to it.
package final class TemporaryFolder: Sendable {
    package let url = FileManager.default.temporaryDirectory.appendingPathComponent("Vellum-\(UUID().uuidString)", isDirectory: true)
    private let forkGuard = ForkGuard()

    package init() {}

    /// Whether this process made it, and not the one of which it is a copy.
    package var isOfThisProcess: Bool { forkGuard.isThisProcess }

    deinit {
        // Not by a copy of the process.
        guard forkGuard.isThisProcess, FileManager.default.fileExists(atPath: url.path) else { return }
        do {
            try FileManager.default.removeItem(at: url)
        } catch {
            Log.warning("A temporary folder could not be removed: \(error)")
        }
    }
}
