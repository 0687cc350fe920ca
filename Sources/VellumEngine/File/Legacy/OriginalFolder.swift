package import Foundation
internal import VellumCore

/// A folder in which version 1 of Vellum kept the objects of a type: a file `KEY.vlm` for each, with what the type made of the object.
///
/// Its objects are taken over when the archive of a type is first opened. Their files are then moved to a folder beside it, which is kept until
/// the program removes it; a file that the type cannot decode stays, because another type may have written it.
package struct OriginalFolder: Sendable {
    /// Its name, which stands for it in the archives' file.
    let name: String
    /// The path of the folder.
    package let path: String
    /// The path of the folder in which its files are kept.
    package let keptPath: String
    /// The paths of the folder and of those between it and its parent.
    private let folders: [String]

    private static let suffix = ".original"

    /// - Parameters:
    ///   - name: The name of the folder.
    ///   - parent: The folder that it is in.
    /// - Returns: `nil` if version 1 could not write a folder of that name in `parent`.
    package init?(named name: String, in parent: URL) {
        let parts = name.split(separator: "/")
        guard parent.isFileURL, !parts.isEmpty, !parts.contains("."), !parts.contains(".."), !name.utf8.contains(0) else { return nil }
        self.name = parts.joined(separator: "/")
        path = parent.appendingPathComponent(self.name, isDirectory: true).path
        folders = parts.indices.map { parent.appendingPathComponent(parts[...$0].joined(separator: "/"), isDirectory: true).path }
        // Beside all others, and no longer than a name may be.
        let kept = String(decoding: parts.joined(separator: ":").utf8.prefix(240), as: UTF8.self)
        keptPath = parent.appendingPathComponent(kept + Self.suffix, isDirectory: true).path
    }

    var isThere: Bool { FileIdentity(path: path) != nil }
    var isKept: Bool { FileIdentity(path: keptPath) != nil }

    // MARK: Files

    struct File {
        /// The key, as version 1 named the file.
        var key: String
        var name: String
        var size: Int
        /// When the object was last recorded or accessed.
        var lastUsed: WallInstant
        /// Whether it is kept already, because another archive has the object.
        var isKept: Bool
    }

    /// The files of the folder, and those that are kept.
    func files(kept withKept: Bool) throws(FileError) -> [File] {
        // Something else may have the name of the folder where they would be kept.
        let hasKept = withKept && FileSystem.isFolder(keptPath)
        return try files(in: path, isKept: false) + (hasKept ? files(in: keptPath, isKept: true) : [])
    }

    private func files(in folder: String, isKept: Bool) throws(FileError) -> [File] {
        var files: [File] = []
        for entry in try entries(of: folder) where Self.isFile(entry) {
            guard let name = String(validating: entry.name, as: UTF8.self) else { continue }
            guard case .value(let status) = (folder + "/" + name).withCString({ SystemCalls.statusAt($0) }) else { continue }
            files.append(
                File(
                    key: String(name.dropLast(Self.ending.count)), name: name, size: status.size,
                    lastUsed: max(status.modified, WallInstant(rawValue: 0)), isKept: isKept))
        }
        return files
    }

    private static let ending = Array(".vlm".utf8)

    private static func isFile(_ entry: FileSystem.Entry) -> Bool {
        entry.kind == .file && entry.name.count > ending.count && entry.name.suffix(ending.count) == ending[...]
    }

    /// - Returns: None if there is no such folder.
    /// - Throws: ``FileError``, also if the folder, or one of those that its name leads through, is a link: the files of another folder are none
    ///   of the type's, and must not be moved or removed.
    private func entries(of folder: String) throws(FileError) -> [FileSystem.Entry] {
        if let link = (folders + [keptPath]).first(where: FileSystem.isLink) { throw FileError(.opening, ELOOP, link) }
        switch folder.withCString({ SystemCalls.list($0) }) {
        case .value(let entries): return entries
        case .failure(-ENOENT): return []
        case .failure(let code): throw FileError(.opening, code, folder)
        }
    }

    /// Returns what is in a file; `nil` if it is gone.
    func contents(of file: File) throws -> Data? {
        // Another process may have moved it meanwhile.
        for folder in file.isKept ? [keptPath] : [path, keptPath] {
            do {
                return try Data(contentsOf: URL(filePath: folder + "/" + file.name, directoryHint: .notDirectory))
            } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
                continue
            }
        }
        return nil
    }

    // MARK: Keeping

    /// Moves files to the folder where they are kept: all at once, with the folder, if nothing else is in it and there is none yet.
    func keep(_ files: [File]) throws(FileError) {
        let moved = files.filter { !$0.isKept }
        guard !moved.isEmpty, try entries(of: path).count != moved.count || isKept || !rename() else { return }
        try FileSystem.makeFolder(keptPath)
        for file in moved {
            // Another process may have moved it.
            _ = try FileSystem.moveIfPresent(path + "/" + file.name, to: keptPath + "/" + file.name)
            CrashPoint.reached(.originalFileMoved)
        }
        _ = path.withCString { SystemCalls.removeFolder($0) }  // Fails if files are left.
    }

    private func rename() -> Bool { path.withCString { path in keptPath.withCString { SystemCalls.rename(path, $0) } } == 0 }

    /// Removes the folders in `parent` in which files are kept, and nothing else.
    ///
    /// - Returns: How many there were.
    package static func removeKept(in parent: URL) throws -> Int {
        let manager = FileManager.default
        guard manager.fileExists(atPath: parent.path) else { return 0 }
        var count = 0
        for name in try manager.contentsOfDirectory(atPath: parent.path) where name.hasSuffix(suffix) {
            guard let folder = OriginalFolder(named: String(name.dropLast(suffix.count)), in: parent) else { continue }
            // What a link leads to is another's.
            guard !FileSystem.isLink(folder.keptPath) else { continue }
            let files = try folder.files(in: folder.keptPath, isKept: true)
            guard !files.isEmpty else { continue }
            for file in files { try FileSystem.remove(folder.keptPath + "/" + file.name) }
            _ = folder.keptPath.withCString { SystemCalls.removeFolder($0) }  // Fails if other files are in it.
            count += 1
        }
        return count
    }
}
