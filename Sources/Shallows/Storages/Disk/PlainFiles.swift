internal import Foundation
internal import VellumCore

/// Files anywhere, by their URLs, written as ``FolderFiles`` writes its own.
///
/// Every call blocks its thread for the file system, and may be made on any thread, concurrently with others.
struct PlainFiles: Sendable {
    /// Whether a write makes the folder of its file where it is missing.
    var makesFolders = true
    var sync = FileSync.none
    var fileSystem = FileSystem.system
    var sweptFolders = TemporaryFiles.SweptFolders()

    /// The contents of the file; `nil` if there is none.
    ///
    /// - Complexity: O(size).
    func read(_ url: URL) throws(FileError) -> Data? {
        let (folder, name) = try parts(of: url)
        switch try FileReader(folder: folder).contents(of: name) {
        case .value(let data): return data
        case .missing: return nil
        case .folder: throw folder.error(.reading, EISDIR, name)
        }
    }

    /// Writes the file. On failure the old file stays, and nothing is left of the new one.
    ///
    /// - Complexity: O(size).
    func write(_ value: Data, to url: URL) throws(FileError) {
        let (folder, name) = try parts(of: url)
        sweptFolders.sweepOnce(folder)
        let writer = FileWriter(folder: folder, sync: sync, makesFolders: makesFolders)
        try writer.retrying { () throws(FileError) in
            let isWritten = try writer.write([value]) { (temporary) throws(FileError) in try writer.rename(temporary, to: name) }
            guard isWritten else { throw folder.error(.renaming, EISDIR, name) }
        }
    }

    /// The folder of a file, and its name there.
    private func parts(of url: URL) throws(FileError) -> (folder: Folder, name: String) {
        let path = url.path
        guard url.isFileURL, let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), !path.utf8.contains(0) else {
            throw FileError(.opening, EINVAL, path, shownAs: "")
        }
        let folder = slash == path.utf8.startIndex ? "/" : String(path[..<slash])
        return (Folder(folder, on: fileSystem), String(path[path.utf8.index(after: slash)...]))
    }
}
