internal import Foundation
internal import VellumCore

extension FolderFiles {
    /// The keys that have a value, each once, in no particular order.
    ///
    /// - Complexity: O(number of files); the ends of those whose keys are too long for a name are read.
    /// - Throws: ``VellumCore/FileError/Step/decodingNames`` if the encoder cannot decode names.
    func keys() throws(FileError) -> [Filename] {
        guard names.encoder.canDecode else { throw folder.error(.decodingNames, ENOTSUP) }
        var keys: Set<Filename> = []
        for file in try files() {
            if let key = try key(of: file), try isLocation(file, of: key) { keys.insert(key) }
        }
        return Array(keys)
    }

    /// The paths of all files in the folder and in those inside it, but for temporary files, names that are not UTF-8, and folders inside
    /// that cannot be read.
    private func files(in path: String = "") throws(FileError) -> [String] {
        var files: [String] = []
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
            case .file where !name.utf8.starts(with: SafeName.temporaryPrefix.utf8): files.append(inside)
            case .folder: files += try self.files(in: inside)
            case .file, .other: break
            }
        }
        return files
    }

    /// The key that a file may belong to.
    private func key(of file: String) throws(FileError) -> Filename? {
        guard LongKeyFile.isName(file) else {
            let text = SafeName.isMade(file) ? SafeName.text(from: file) : names.encoder.isKey ? URLText.url(withPath: file) ?? file : file
            return text.flatMap(names.encoder.key)
        }
        guard case .key(let text) = try owner(of: file) else { return nil }
        return String(validating: text, as: UTF8.self).flatMap(names.encoder.key)
    }

    /// Whether the value of the key is read from that file. Files of other programs can have names that decode.
    private func isLocation(_ file: String, of key: Filename) throws(FileError) -> Bool {
        let spelling = names.spelling(of: key)
        let location = names.location(of: spelling)
        if lies(file, at: location) || names.earlierLocations(of: spelling).contains(where: { lies(file, at: $0) }) { return true }
        guard case .named(let name) = location, lies(file, at: names.locationBesideFolder(spelling)) else { return false }
        return try folder.kind(of: name) == .folder
    }

    private func lies(_ file: String, at location: FileLocation) -> Bool {
        switch location {
        case .named(let name): name.hasSameBytes(as: file)
        case .hashed(let text): file.utf8.starts(with: LongKeyFile.name(digest: digest.digits(of: text), number: 0).utf8.dropLast())
        }
    }
}

extension FileError.Step {
    static let decodingNames = FileError.Step(
        "The keys cannot be listed, because the encoder cannot decode names. Use `custom(_:decode:)`", isWriting: false)
}
