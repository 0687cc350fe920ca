internal import Foundation
internal import VellumCore

/// What all storages of one folder have in common in this process, where they name it by the same path: the order of their calls,
/// and the lock for what depends on several files.
///
/// A storage that is made anew for every call still finds what the one before it set.
final class SharedFolder: Sendable {
    /// Held while the place of a file depends on other files: of long keys, and of those beside a folder.
    let placing = Locked(())
    private let lane = Lane()
    /// `nil` if it is not in the table.
    private let path: String?

    /// - Parameter path: By which it is found in the table; `nil` for one that nobody finds.
    init(path: String? = nil) {
        self.path = path
    }

    /// Does work with files, in its turn. The folder stays in the table until who asked is told.
    func run<Value: Sendable>(
        _ layer: String, _ key: (any Sendable)?, _ call: Call, _ work: @escaping @Sendable () throws(FileFailure) -> Value
    ) -> Reply<Value> {
        lane.run(layer, key, call, work).map { [self] outcome in withExtendedLifetime(self) { outcome } }
    }

    // MARK: The table

    // A class, because an optional struct with a weak reference is misread by the compiler of Swift 6.3.
    private final class Weak {
        weak var folder: SharedFolder?
        let id: ObjectIdentifier

        init(_ folder: SharedFolder) {
            self.folder = folder
            id = ObjectIdentifier(folder)
        }
    }

    private static let folders = Locked<[String: Weak]>([:])

    /// That of a folder. Reads nothing from the disk, so that a folder with two paths may have two: each is in order.
    static func shared(for url: URL) -> SharedFolder {
        let path = url.isFileURL ? url.standardizedFileURL.path : ""
        let new = SharedFolder(path: path)  // Made and let go of outside the lock: its `deinit` takes it.
        return folders.withLock { folders in
            if let folder = folders[path]?.folder { return folder }
            folders[path] = Weak(new)
            return new
        }
    }

    deinit {
        guard let path else { return }
        Self.folders.withLock { folders in
            // A new one may have taken the place already.
            if folders[path]?.id == ObjectIdentifier(self) { folders[path] = nil }
        }
    }
}
