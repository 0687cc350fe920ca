internal import Foundation
internal import VellumCore

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
    private let sweeps: Sweeps

    /// - Parameter creatingDirectories: Whether a write makes the folder of its file where it is missing.
    init(
        creatingDirectories: Bool = true, sync: FileSync = .none, calls: FileSystemCalls = .system, processes: ProcessTable = .system,
        sweeps: Sweeps = Sweeps()
    ) {
        self.sweeps = sweeps
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
        let path = FolderPath(folder)
        sweeps.sweepOnce(TemporaryFiles(folder: path, calls: calls, processes: processes))
        try writer.making(path, ifMissing: creatingDirectories) { () throws(FileFailure) in try write(value, to: name, in: path) }
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
}
