internal import Foundation
internal import VellumCore

extension FolderFiles {
    /// Removes the value of a key. Returns whether there was one.
    ///
    /// Files of earlier versions go first, so that no older value comes back if the process ends in between.
    func remove(_ key: Filename) throws(FileFailure) -> Bool {
        let spelling = names.spelling(of: key)
        var wasThere = false
        for place in names.oldPlaces(of: spelling) where try remove(place, .removing) { wasThere = true }
        let place = names.place(of: spelling)
        if try remove(place, .removing) { return true }
        if case .named(let name) = place, try kind(of: name) == .folder, try remove(names.placeBeside(spelling), .removing) { return true }
        return wasThere
    }

    /// Removes what is at a place. Returns whether there was something.
    func remove(_ place: FilePlace, _ step: FileFailure.Step) throws(FileFailure) -> Bool {
        switch place {
        case .hashed(let text): return try removeLong(text, step)
        case .named(let path):
            guard try leadsInside(path) else { return false }
            if names.needsExactName(path), try !hasExactly(path) { return false }
            guard try unlink(path, step) else { return false }
            try removeEmptyFolders(above: path)
            return true
        }
    }

    /// Returns whether there was a file.
    func unlink(_ path: String, _ step: FileFailure.Step) throws(FileFailure) -> Bool {
        let above = Self.folder(of: path)
        let answer = try folder.withPath(of: path.utf8) { (path) throws(FileFailure) in calls.unlink(path) }
        switch answer {
        case 0: break
        case -ENOENT, -EISDIR: return false
        case -ENOTDIR where above != nil, -ENAMETOOLONG where above != nil: return false
        default: throw FileFailure(step: step, code: -answer, path: folder.text + "/" + path)
        }
        try writer.syncFolder(above.map { FolderPath(folder.text + "/" + $0) } ?? folder, mayBeMissing: true)
        return true
    }

    /// Removes the folders that an earlier version made for a path, as far as they are empty. One stays while a value lies beside it,
    /// because that is looked for only where there is a folder.
    private func removeEmptyFolders(above path: String) throws(FileFailure) {
        guard var name = Self.folder(of: path) else { return }
        try shared.placing.withLock { (_) throws(FileFailure) in
            while true {
                let above = Self.folder(of: name)
                if above == nil {
                    // Without case the folder is in the way of the key whose name it has in small letters.
                    let name = names.rule == .insensitive ? name.lowercased() : name
                    guard case .named(let beside) = SafeName.escapedPlace(of: name, names.rule), try kind(of: beside) == nil else { return }
                }
                guard try folder.withPath(of: name.utf8, { (path) throws(FileFailure) in calls.removeFolder(path) }) == 0 else { return }
                guard let above else { return }
                name = above
            }
        }
    }

    /// The path without its last part; `nil` if it has only one.
    private static func folder(of path: String) -> String? {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) }
    }
}
