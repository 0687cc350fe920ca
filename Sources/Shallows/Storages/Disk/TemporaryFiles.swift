internal import Foundation
internal import VellumCore

/// Files that are being written, before they have their names; and those that a killed process left.
enum TemporaryFiles {
    /// The age in seconds at which a temporary file counts as left over. Whoever still writes it writes it again when it is gone.
    static let maxAge = 60 * 60

    private static let process = UInt64.random(in: 0 ... .max)
    private static let count = Locked<UInt64>(0)

    /// A name that no other temporary file of this process has, and that is unlikely to be one of another's.
    static func nextName() -> String {
        let number = count.withLock { count in
            count += 1
            return count
        }
        return "\(SafeName.temporaryPrefix)\(String(process, radix: 16))-\(number)"
    }

    /// Removes the temporary files of a folder that are older than ``maxAge``. Returns how many.
    ///
    /// - Complexity: O(number of files in the folder), and two calls of the system for each temporary one.
    @discardableResult
    static func sweep(_ folder: Folder, at now: Date = Date()) throws(FileError) -> Int {
        var count = 0
        for entry in try folder.entries() where entry.kind == .file && entry.name.starts(with: SafeName.temporaryPrefix.utf8) {
            // A file that is gone was renamed by its writer.
            guard case .value(let status) = try folder.status(of: String(decoding: entry.name, as: UTF8.self)),
                status.modified < WallInstant(now).advanced(byMilliseconds: Int64(-maxAge) * 1000)
            else { continue }
            let answer = try folder.unlink(entry.name)
            guard answer == 0 || answer == -ENOENT else {
                throw folder.error(.removing, answer, String(decoding: entry.name, as: UTF8.self))
            }
            if answer == 0 { count += 1 }
        }
        return count
    }

    /// The folders that were swept. Each is swept before its first write, because that looks at all of its files.
    final class SweptFolders: Sendable {
        /// Those of this process.
        static let shared = SweptFolders()

        private let paths = Locked<Set<String>>([])

        func sweepOnce(_ folder: Folder) {
            let path = folder.path
            let isFirst = paths.withLock { paths in
                if paths.count == 1000 { paths.removeAll() }
                return paths.insert(path).inserted
            }
            guard isFirst else { return }
            do throws(FileError) {
                try sweep(folder)
            } catch {
                // What is left is swept by the next process, and the write that follows reports what is wrong with the folder.
            }
        }
    }
}
