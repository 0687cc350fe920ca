internal import Foundation
internal import VellumCore

/// Which folders were swept already: each is swept at its first write, since that looks at all of its files.
final class Sweeps: Sendable {
    /// For all storages of this process.
    static let shared = Sweeps()

    private let swept = Locked<Set<String>>([])

    /// Removes what killed processes left in a folder, if that was not done before.
    func sweepOnce(_ files: TemporaryFiles) {
        let path = files.folder.text
        let isFirst = swept.withLock { swept in
            if swept.count == 1000 { swept.removeAll() }  // Whoever writes in that many folders is swept for again.
            return swept.insert(path).inserted
        }
        guard isFirst else { return }
        do throws(FileFailure) {
            try files.sweep()
        } catch {
            // Nothing is lost: what is left is swept the next time, and the write that comes now says what is wrong with the folder.
        }
    }
}
