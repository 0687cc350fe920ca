internal import Foundation
internal import VellumCore

// What concerns all files of a folder: listing their keys, and clearing.

extension FolderFiles {
    /// The keys that have a value, each once, in no particular order.
    ///
    /// - Complexity: O(number of files); the ends of those whose keys are too long for a name are
    ///   read.
    /// - Throws: ``VellumCore/FileError/Step/decodingNames`` if the encoder cannot decode names.
    func keys() throws(FileError) -> [Filename] {
        guard names.encoder.canDecode else { throw folder.error(.decodingNames, ENOTSUP) }
        var keys: Set<Filename> = []
        for path in try paths() {
            if let key = try key(of: path), try isRead(path, for: key) {
                keys.insert(key)
            }
        }
        return Array(keys)
    }

    /// The paths of all files in the folder and in those inside it, but for temporary files, names
    /// that are not UTF-8, and folders inside that cannot be read.
    private func paths(in path: String = "") throws(FileError) -> [String] {
        var paths: [String] = []
        let entries: [FileSystem.Entry]
        do throws(FileError) {
            entries = try folder.entries(of: Array(path.utf8))
        } catch {
            guard !path.isEmpty, error.concernsOneFile else { throw error }
            return []
        }
        for entry in entries {
            guard let name = String(validating: entry.name, as: UTF8.self) else { continue }
            let inside = path.isEmpty ? name : path + "/" + name
            switch entry.kind {
            case .file where !name.utf8.starts(with: FileName.temporaryPrefix.utf8):
                paths.append(inside)
            case .folder: paths += try self.paths(in: inside)
            case .file, .other: break
            }
        }
        return paths
    }

    /// The key that a file may belong to.
    private func key(of path: String) throws(FileError) -> Filename? {
        let text: String?
        if FileName.isShortened(path) {
            text = try storedText(in: path)
        } else if FileName.isMade(path) {
            text = FileName.text(from: path)
        } else {
            text = names.encoder.isKey ? URLText.url(withPath: path) ?? path : path
        }
        return text.flatMap(names.encoder.key)
    }

    /// The text at the end of a file; `nil` if it cannot be read.
    private func storedText(in path: String) throws(FileError) -> String? {
        do throws(FileError) {
            return try reader.longKey(of: path)
        } catch {
            guard error.concernsOneFile else { throw error }
            return nil
        }
    }

    /// Whether the value of the key is read from that file. Files of other programs can have names
    /// that decode.
    private func isRead(_ path: String, for key: Filename) throws(FileError) -> Bool {
        let file = names.file(of: key)
        if ([file.name] + names.originalPaths(of: key, file)).contains(where: {
            $0.hasSameBytes(as: path)
        }) {
            return true
        }
        guard file.isPlain, names.fileBesideFolder(file).name.hasSameBytes(as: path) else {
            return false
        }
        return try folder.kind(of: file.name) == .folder
    }

    // MARK: Clearing

    /// Removes everything in the folder, and the folder. After a failure it can be called again.
    ///
    /// What others write meanwhile may be removed, or stay, and the folder with it. Links in the
    /// folder are removed, and what they lead to is not. If the folder itself is a link, it stays,
    /// and leads to an empty folder.
    ///
    /// - Complexity: O(number of files).
    func clear() throws(FileError) {
        for _ in 0..<10 {
            try removeEverything(in: [])
            try writer.sync(folder, mayBeMissing: true)
            switch try folder.removeFolder() {
            case 0, -ENOENT: return try writer.sync(folder.parent, mayBeMissing: true)
            case -ENOTDIR: return
            case -ENOTEMPTY, -EEXIST: break  // Others wrote in between.
            case let code: throw folder.error(.removing, code)
            }
        }
        // What was there when the call was made is removed. What others keep writing stays.
    }

    /// - Parameter path: A folder inside this one; empty for this one.
    private func removeEverything(in path: [UInt8]) throws(FileError) {
        for entry in try folder.entries(of: path) {
            let inside = path.isEmpty ? entry.name : path + [UInt8(ascii: "/")] + entry.name
            var answer = try folder.unlink(inside)
            if answer == -EISDIR {
                try removeEverything(in: inside)
                answer = try folder.removeFolder(inside)
            }
            // `clear` returns to a folder that others wrote into.
            guard [0, -ENOENT, -ENOTEMPTY, -EEXIST].contains(answer) else {
                throw folder.error(.removing, answer, String(decoding: inside, as: UTF8.self))
            }
        }
    }
}

extension FileError.Step {
    static let decodingNames = FileError.Step(
        """
        The keys cannot be listed, because the encoder cannot decode names. Use `custom(_:decode:)`
        """,
        isWriting: false
    )
}
