internal import Foundation
internal import Tiers

/// Files anywhere, by their URLs: with the discipline of ``FolderFiles``, and without its names.
///
/// Every call blocks its thread while the system works, and may be made on any thread, at once with others: files are replaced
/// whole.
final class PlainFiles: Sendable {
    let creatingDirectories: Bool
    private let reader: FileReader
    private let writer: FileWriter
    private let processes: ProcessTable
    private let calls: FileSystemCalls
    private let swept = Locked<Set<String>>([])

    /// - Parameter creatingDirectories: Whether a write makes the folder of its file where it is missing.
    init(
        creatingDirectories: Bool = true, sync: FileSync = .none, calls: FileSystemCalls = .system, processes: ProcessTable = .system
    ) {
        self.creatingDirectories = creatingDirectories
        self.calls = calls
        self.processes = processes
        reader = FileReader(calls: calls)
        writer = FileWriter(calls: calls, sync: sync)
    }

    /// What the file holds; `nil` if there is none.
    ///
    /// - Complexity: O(size).
    func read(_ url: URL) throws(FileFailure) -> Data? {
        let (folder, name) = try parts(of: url)
        let contents = try FolderPath(folder).withPath(of: name.utf8) { (path) throws(FileFailure) in try reader.contents(at: path) }
        switch contents {
        case .value(let data): return data
        case .missing: return nil
        case .folder: throw FileFailure(step: .reading, code: EISDIR, path: url.path)
        }
    }

    /// Writes the file. On failure what was there stays, and nothing is left of the new one.
    ///
    /// - Complexity: O(size).
    func write(_ value: Data, to url: URL) throws(FileFailure) {
        let (folder, name) = try parts(of: url)
        sweepOnce(folder)
        do throws(FileFailure) {
            try write(value, to: name, in: FolderPath(folder))
        } catch {
            guard error.code == ENOENT, creatingDirectories else { throw error }
            try writer.makeFolder(folder)
            try write(value, to: name, in: FolderPath(folder))
        }
    }

    /// Removes the file. Returns whether there was one.
    func remove(_ url: URL) throws(FileFailure) -> Bool {
        let (folder, name) = try parts(of: url)
        let path = FolderPath(folder)
        let answer = try path.withPath(of: name.utf8) { (path) throws(FileFailure) in calls.unlink(path) }
        switch answer {
        case 0: break
        case -ENOENT: return false
        default: throw FileFailure(step: .removing, code: -answer, path: url.path)
        }
        try writer.syncFolder(path)
        return true
    }

    private func write(_ value: Data, to name: String, in folder: FolderPath) throws(FileFailure) {
        let isWritten = try writer.write([value], in: folder) { (temporary) throws(FileFailure) in
            try writer.rename(temporary, to: name, in: folder)
        }
        guard isWritten else { throw FileFailure(step: .replacing, code: EISDIR, path: folder.text + "/" + name) }
    }

    /// The folder of a file, and its name there.
    private func parts(of url: URL) throws(FileFailure) -> (folder: String, name: String) {
        let path = url.path
        guard url.isFileURL, let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), !path.utf8.contains(0) else {
            throw FileFailure(step: .opening, code: EINVAL, path: path)
        }
        return (slash == path.utf8.startIndex ? "/" : String(path[..<slash]), String(path[path.utf8.index(after: slash)...]))
    }

    /// Removes what killed processes left in a folder, at the first write there.
    private func sweepOnce(_ folder: String) {
        let isFirst = swept.withLock { swept in
            if swept.count == 1000 { swept.removeAll() }  // Whoever writes in that many folders is swept for again.
            return swept.insert(folder).inserted
        }
        guard isFirst else { return }
        do throws(FileFailure) {
            try TemporaryFiles(folder: FolderPath(folder), calls: calls, processes: processes).sweep()
        } catch {
            // Nothing is lost: what is left is swept the next time, and the write that comes now says what is wrong with the folder.
        }
    }
}
