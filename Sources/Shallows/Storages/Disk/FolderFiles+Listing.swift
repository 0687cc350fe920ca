internal import Foundation

extension FolderFiles {
    /// The keys that have a value, each once, in no order.
    ///
    /// - Complexity: O(number of files), and the ends of those are read whose keys are too long for a name.
    /// - Throws: ``FileFailure/Step/decodingNames`` if the encoder has no way back.
    func keys() throws(FileFailure) -> [Filename] {
        guard names.encoder.canDecode else { throw FileFailure(step: .decodingNames, code: ENOTSUP, path: folder.text) }
        var keys: Set<Filename> = []
        for file in try files() {
            if let key = try key(of: file), try isPlace(file, of: key) { keys.insert(key) }
        }
        return Array(keys)
    }

    /// The paths of all files in the folder and in those inside it, but for temporary ones. Names that are no text belong to nobody here,
    /// and what is in a folder inside that cannot be read cannot be retrieved either.
    private func files(in path: String = "") throws(FileFailure) -> [String] {
        var files: [String] = []
        let entries: [FileSystemCalls.Entry]
        do throws(FileFailure) {
            entries = try calls.entries(of: path.utf8, in: folder)
        } catch {
            guard !path.isEmpty, error.isOfOneFile else { throw error }
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
    private func key(of file: String) throws(FileFailure) -> Filename? {
        guard LongKeyFile.isName(file) else { return SafeName.text(from: file).flatMap(names.encoder.key) }
        guard case .key(let text) = try look(file) else { return nil }
        return String(validating: text, as: UTF8.self).flatMap(names.encoder.key)
    }

    /// Whether the key is looked for in that file: other programs' files can look like names.
    private func isPlace(_ file: String, of key: Filename) throws(FileFailure) -> Bool {
        let spelling = names.spelling(of: key)
        let place = names.place(of: spelling)
        if lies(file, at: place) || names.oldPlaces(of: spelling).contains(where: { lies(file, at: $0) }) { return true }
        guard case .named(let name) = place, lies(file, at: names.placeBeside(spelling)) else { return false }
        return try kind(of: name) == .folder
    }

    private func lies(_ file: String, at place: FilePlace) -> Bool {
        switch place {
        case .named(let name): name.hasSameBytes(as: file)
        case .hashed(let text): file.utf8.starts(with: LongKeyFile.name(digest: digest.digits(of: text), number: 0).utf8.dropLast())
        }
    }
}
