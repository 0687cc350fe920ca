internal import Foundation
internal import VellumCore

extension FolderFiles {
    /// Removes the value of a key. Returns whether there was one.
    ///
    /// Files of earlier versions are removed first, so that no older value comes back if the process ends in between.
    func remove(_ key: Filename) throws(FileError) -> Bool {
        let spelling = names.spelling(of: key)
        var existed = false
        for location in names.earlierLocations(of: spelling) where try remove(location, .removing) { existed = true }
        let location = names.location(of: spelling)
        if try remove(location, .removing) { return true }
        if case .named(let name) = location, try folder.kind(of: name) == .folder,
            try remove(names.locationBesideFolder(spelling), .removing)
        {
            return true
        }
        return existed
    }

    /// Removes the file at a location. Returns whether there was one.
    func remove(_ location: FileLocation, _ step: FileError.Step) throws(FileError) -> Bool {
        switch location {
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
    func unlink(_ path: String, _ step: FileError.Step) throws(FileError) -> Bool {
        let above = Self.folder(of: path)
        switch try folder.unlink(path) {
        case 0: break
        case -ENOENT, -EISDIR: return false
        case -ENOTDIR where above != nil, -ENAMETOOLONG where above != nil: return false
        case let code: throw folder.error(step, code, path)
        }
        try writer.sync(above.map(folder.folder) ?? folder, mayBeMissing: true)
        return true
    }

    /// Removes the folders that an earlier version made for a path, as far as they are empty. A folder stays while a value lies beside
    /// it, because that value is looked for only where there is a folder.
    private func removeEmptyFolders(above path: String) throws(FileError) {
        guard var name = Self.folder(of: path) else { return }
        try shared.locating.withLock { (_) throws(FileError) in
            while true {
                let above = Self.folder(of: name)
                if above == nil {
                    // On an insensitive volume the folder is in the way of the key whose name it has in small letters.
                    let name = names.caseSensitivity == .insensitive ? name.lowercased() : name
                    guard case .named(let beside) = SafeName.escapedLocation(of: name, names.caseSensitivity),
                        try folder.kind(of: beside) == nil
                    else { return }
                }
                guard try folder.removeFolder(Array(name.utf8)) == 0, let above else { return }
                name = above
            }
        }
    }

    /// The path without its last part; `nil` if it has only one.
    private static func folder(of path: String) -> String? {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) }
    }

    // MARK: All of them

    /// Removes everything in the folder, and the folder. After a failure it can be called again.
    ///
    /// What others write meanwhile may be removed, or stay, and the folder with it. Links in the folder are removed, and what they lead
    /// to is not. If the folder itself is a link, it stays, and leads to an empty folder.
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
